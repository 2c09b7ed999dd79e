import { CodedError, explain, runtimeErrors, toError } from "@evenkeel/runtime";
import {
  Route53Busy,
  Route53Denied,
  Route53NoCredentials,
  Route53NoZone,
  Route53Refused,
  Route53Throttled,
  Route53Unreachable,
} from "../../errors.ts";

/** How a call ended, as the metric has it. */
export type CallResult = "ok" | "throttled" | "busy" | "refused" | "failed";

/** What the SDK's errors have of interest; errors of the network have none of it. */
interface ServiceError {
  readonly $metadata?: { readonly httpStatusCode?: number };
  /** The reasons of a batch that was refused, where the answer is an ErrorResponse. */
  readonly messages?: readonly string[];
  /** The same for an InvalidChangeBatch, which the SDK does not parse. */
  readonly Messages?: { readonly Message?: string | readonly string[] };
}

const THROTTLES = new Set([
  "Throttling",
  "ThrottlingException",
  "ThrottledException",
  "RequestLimitExceeded",
  "TooManyRequestsException",
]);

const DENIALS = new Set([
  "AccessDenied",
  "AccessDeniedException",
  "NotAuthorizedException",
  "UnrecognizedClientException",
  "InvalidClientTokenId",
  "InvalidSignatureException",
  "SignatureDoesNotMatch",
  "IncompleteSignature",
  "MissingAuthenticationToken",
  "OptInRequired",
]);

const EXPIRIES = new Set(["ExpiredToken", "ExpiredTokenException", "RequestExpired"]);

/**
 * Answers that repeat the request's headers, a session token among them:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/signature-v4-troubleshooting.html
 */
const REPEAT_HEADERS = new Set(["SignatureDoesNotMatch", "IncompleteSignature", "InvalidSignatureException"]);

/**
 * The coded error for anything that the SDK threw. The cause is kept as text, because errors of the SDK contain the
 * response, and some responses repeat the request. `what` is the subject of a refused request.
 */
export function route53Fault(thrown: unknown, zone: string, what = `zone ${zone}`): CodedError {
  if (thrown instanceof CodedError && !(thrown instanceof runtimeErrors.DeadlineExceeded)) return thrown;
  const error = toError(thrown) as Error & ServiceError;
  const status = error.$metadata?.httpStatusCode;
  const fault = faultText(error, status);
  if (THROTTLES.has(error.name) || status === 429 || /rate exceeded/i.test(error.message))
    return new Route53Throttled({ zone, fault });
  if (error.name === "PriorRequestNotComplete") return new Route53Busy({ zone, fault });
  if (error.name === "NoSuchHostedZone") return new Route53NoZone({ zone, fault });
  if (error.name === "CredentialsProviderError" || error.name === "TokenProviderError")
    return new Route53NoCredentials({ zone, fault });
  if (DENIALS.has(error.name) || EXPIRIES.has(error.name) || status === 401 || status === 403)
    return new Route53Denied({ zone, fault });
  if (status !== undefined && status >= 400 && status < 500 && status !== 408)
    return new Route53Refused({ what, fault });
  return new Route53Unreachable({ zone, fault });
}

/** Whether the credentials have expired, so that the role must be assumed again. */
export function isExpiry(thrown: unknown): boolean {
  return EXPIRIES.has(toError(thrown).name);
}

export function resultOf(error: CodedError): CallResult {
  if (error.code === Route53Throttled.entry.code) return "throttled";
  if (error.code === Route53Busy.entry.code) return "busy";
  return error.recovery === "terminal" ? "refused" : "failed";
}

function faultText(error: Error & ServiceError, status: number | undefined): string {
  if (REPEAT_HEADERS.has(error.name))
    return `${error.name}: the secret access key does not belong to the access key id`;
  if (status === undefined) return explain(error);
  const { name, message, messages = [], Messages } = error;
  if (Messages?.Message !== undefined) return `InvalidChangeBatch: ${[Messages.Message].flat().join("; ")}`;
  const said = messages.length > 0 ? messages.join("; ") : message;
  if (said === "" || said === "UnknownError" || said.includes("Deserialization error"))
    return `HTTP status ${status} without an error of Route 53`;
  return said.startsWith(name) || name === "Error" ? said : `${name}: ${said}`;
}
