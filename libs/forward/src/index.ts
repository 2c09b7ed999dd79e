export type {
  Answer,
  AnswerRequest,
  AnswerResponse,
  Destination,
  Failure,
  Forward,
  Origin,
  OriginTls,
  Outcome,
  Refusal,
  Refuse,
  Router,
} from "./destination.ts";
export * as forwardErrors from "./errors.ts";
export type { ClientCertificate, ClientProtocol, Exchange, Head, LeaveListener } from "./exchange.ts";
export { type Counts, Forwarder, type ForwarderOptions } from "./forwarder.ts";
export type { StripOptions } from "./headers/stripped-headers.ts";
export { type Deadlines, defaultDeadlines, defaultLimits, type ForwardLimits } from "./limits.ts";
export type { Listener, ListenerOptions } from "./listener.ts";
export type { OpaqueConnections } from "./sniffer.ts";
export { forwardMetrics } from "./metrics.ts";
export type { WarmOptions, Warmth } from "./warm.ts";
export * from "./hold/index.ts";
