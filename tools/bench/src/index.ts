export { barred, figure, median, type Result } from "./result.ts";
export type { Outcome, Series, Suite } from "./suite.ts";
