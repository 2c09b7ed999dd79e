export { scaleResolver } from "./definition.ts";
