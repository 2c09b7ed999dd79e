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
  Router,
} from "./destination.ts";
export * as forwardErrors from "./errors.ts";
export type { ClientCertificate, Exchange, LeaveListener } from "./exchange.ts";
export { type Counts, Forwarder, type ForwarderOptions } from "./forwarder.ts";
export type { Listener } from "./listener.ts";
export * from "./hold/index.ts";
