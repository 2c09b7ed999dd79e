export { parseAddress, type ServerAddress } from "./address.ts";
export type { Advice } from "./advice.ts";
export { basicAuthorization, type Credentials } from "./credentials.ts";
export type { Trust } from "./connections.ts";
export { bounded } from "./bounded-text.ts";
export { failureMessage } from "./failure.ts";
export { headerFault } from "./header.ts";
export { masked } from "./masked.ts";
export {
  PrometheusClient,
  type PrometheusClientOptions,
  type Query,
  type QueryOutcome,
  type RangeOutcome,
  type RangeQuery,
  spanParameters,
} from "./prometheus-client.ts";
export { parseRangeAnswer, type RangeAnswer, type Series } from "./range-answer.ts";
export { allowFaults, ServerGuards } from "./server-guard.ts";
export { type Labels, type QueryAnswer, type Sample, unfitMessage } from "./query-answer.ts";
