export { buildKeda } from "./build.ts";
export { Keda, type KedaOptions } from "./keda.ts";
