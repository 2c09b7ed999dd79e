export type { Labels } from "./labels.ts";
export type { JobFault, Outcome, Relabelling, RelabelRule, ScrapeJob, Step, TargetFault } from "./relabelling.ts";
