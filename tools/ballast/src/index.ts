export { ballast } from "./definition.ts";
