export { type FinalStage, finalStage } from "./dockerfile.ts";
export { driftedFiles, generatedFiles, writeFiles } from "./generated.ts";
export { buildDependencies, copyCharts } from "./helm.ts";
export { charts, root } from "./places.ts";
export { Release, type Rendered } from "./release.ts";
export { appVersion, serviceCharts } from "./service-charts.ts";
