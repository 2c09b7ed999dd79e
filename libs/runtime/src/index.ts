export * from "./admin/index.ts";
export { type Clock, sleep, systemClock } from "./clock.ts";
export { aborted, type Deadline, withDeadline } from "./deadline.ts";
export * from "./decision/index.ts";
export {
  CodedError,
  type CodedErrorClass,
  defineError,
  type ErrorEntry,
  type ErrorFields,
  explain,
  isRetryable,
  type Recovery,
  toError,
} from "./error.ts";
export * as runtimeErrors from "./errors.ts";
export type { Host } from "./host.ts";
export * from "./lifecycle/index.ts";
export { createLogger, type Logger, type LogOptions } from "./log.ts";
export { main } from "./main.ts";
export { proxyFor } from "./proxy.ts";
export { type Backoff, fullJitter, retry, type RetryOptions } from "./retry.ts";
export { MASKED } from "./scrub.ts";
export { Service, type ServiceDefinition, type ServiceSettings } from "./service.ts";
export * from "./settings/index.ts";
export { type Rate, TokenBucket } from "./token-bucket.ts";
