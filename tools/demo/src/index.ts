export { tideLevel } from "./tide.ts";
