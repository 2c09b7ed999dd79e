import type { Destination, Refusal } from "@evenkeel/forward";
import { CodedError, isRetryable } from "@evenkeel/runtime";
import { NoAuthority, UnsendableIdentity } from "./errors.ts";
import type { GatewayRequest } from "./gateway-request.ts";
import { RequestRefused } from "./request-refused.ts";
import { statusBody, statusRefusal } from "./status.ts";

/**
 * Ends a request with the Status for what was thrown. What has no code is rethrown: the forwarder logs it as a defect.
 */
export function refused(request: GatewayRequest, thrown: unknown): Destination {
  const refusal = refusalOf(thrown);
  if (refusal === undefined) {
    request.end(500);
    throw thrown;
  }
  request.code = refusal.code;
  request.end(refusal.status);
  return { refuse: { ...refusal, headers: [...(refusal.headers ?? []), "audit-id", request.auditId] } };
}

/** The Status for what was thrown; undefined for an error without a code. */
export function refusalOf(thrown: unknown): Refusal | undefined {
  if (thrown instanceof RequestRefused) return thrown.refusal;
  if (!(thrown instanceof CodedError)) return undefined;
  return statusRefusal(statusOf(thrown), thrown, isRetryable(thrown) ? { retryAfterSeconds: 1 } : {});
}

function statusOf(error: CodedError): number {
  if (error.code === NoAuthority.entry.code) return 502;
  if (error.code === UnsendableIdentity.entry.code) return 400;
  return isRetryable(error) ? 503 : 500;
}

/** Words the forwarder's own refusals, such as of a member that does not respond, as a Status too. */
export function wordRefusal(refusal: Refusal): Refusal {
  const headers = refusal.headers ?? [];
  const isStatus = headers.some((text, index) => index % 2 === 0 && text.toLowerCase() === "content-type");
  if (isStatus) return refusal;
  const code = refusal.code ?? "EK_FORWARD_REFUSED";
  const message = (refusal.body ?? "").trim().replace(`${code}: `, "");
  const body = statusBody(refusal.status, code, message);
  return { ...refusal, headers: [...headers, "content-type", "application/json"], body };
}
