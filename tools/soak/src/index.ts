export { faultsOf, type HeapSample, type Soaked } from "./verdict.ts";
