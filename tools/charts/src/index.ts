export { driftedFiles, generatedFiles, writeFiles } from "./generated.ts";
export { buildDependencies, copyCharts, helmOutput, type HelmResult, runHelm } from "./helm.ts";
export { charts } from "./places.ts";
export { serviceCharts } from "./service-charts.ts";
