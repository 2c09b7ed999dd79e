export { name } from "./name.ts";
