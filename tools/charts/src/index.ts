export { driftedFiles, generatedFiles, writeFiles } from "./generated.ts";
export { buildDependencies, copyCharts } from "./helm.ts";
export { charts } from "./places.ts";
export { serviceCharts } from "./service-charts.ts";
