export { prometheusMilliseconds } from "./duration.ts";
export type { Labels } from "./labels.ts";
export type {
  Compilation,
  JobFault,
  Outcome,
  Relabelling,
  RelabelRule,
  ScrapeJob,
  Step,
  TargetFault,
} from "./relabelling.ts";
export { relabelling } from "./relabelling.ts";
export { seeds } from "./seeds.ts";
