export { weightRebalancer } from "./definition.ts";
