import type { Refusal } from "@evenkeel/forward";
import type { CodedError } from "@evenkeel/runtime";

/** The reasons that clients of the Kubernetes API know, by the HTTP status that goes with them. */
const reasons: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  408: "Timeout",
  409: "Conflict",
  413: "RequestEntityTooLarge",
  429: "TooManyRequests",
  431: "BadRequest",
  500: "InternalError",
  502: "ServiceUnavailable",
  503: "ServiceUnavailable",
  504: "Timeout",
  508: "InternalError",
};

/** What a Status says beside its sentence. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** A resource in the plural, as kube-apiserver fills it. */
  readonly kind?: string;
  readonly retryAfterSeconds?: number;
}

/**
 * A refusal as a Kubernetes Status, which kubectl prints as one sentence. The code is the only cause, and at the end of
 * the sentence, because kubectl prints no causes.
 */
export function statusRefusal(
  status: number,
  { code, message }: Pick<CodedError, "code" | "message">,
  details: StatusDetails = {},
): Refusal {
  const body = statusBody(status, code, message, details);
  const { retryAfterSeconds: seconds } = details;
  const headers = ["content-type", "application/json", "cache-control", "no-cache, private"];
  if (status === 401) headers.push("www-authenticate", 'Bearer realm="kubernetes"');
  if (seconds !== undefined) headers.push("retry-after", String(seconds));
  return { status, code, headers, body };
}

/** The JSON of such a Status. */
export function statusBody(status: number, code: string, message: string, details: StatusDetails = {}): string {
  return `${JSON.stringify({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: message.endsWith(`(${code})`) ? message : `${message} (${code})`,
    reason: reasons[status] ?? "Unknown",
    details: { ...details, causes: [{ reason: code, message }] },
    code: status,
  })}\n`;
}
