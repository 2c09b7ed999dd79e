import { type CodedError, isRetryable } from "@evenkeel/runtime";
import type { Failure, Refusal } from "../destination.ts";
import { BadAnswer, BodyTooLong, BodyTooSlow, Broken, TooSlow, Unreachable, Untrusted } from "../errors.ts";

/** The response to a client after the last try failed. */
export interface Verdict {
  readonly status: number;
  readonly error: CodedError;
}

export function verdictOn({ kind, origin, error: cause }: Failure): Verdict {
  const fields = { origin: `${origin.host}:${origin.port}` };
  switch (kind) {
    case "connect":
      return isUntrusted(cause)
        ? { status: 502, error: new Untrusted({ ...fields, fault: cause.code }, { cause }) }
        : { status: 503, error: new Unreachable(fields, { cause }) };
    case "reset":
      return { status: 502, error: new Broken(fields, { cause }) };
    case "protocol":
      return { status: 502, error: new BadAnswer(fields, { cause }) };
    case "deadline":
      return { status: 504, error: new TooSlow(fields, { cause }) };
  }
}

/** The refusal that tells a client of `error`. */
export function refusalOf(status: number, error: CodedError): Refusal & { readonly body: string } {
  return { status, code: error.code, body: `${error.code}: ${error.message}\n` };
}

const statuses: Readonly<Record<string, number>> = {
  [BodyTooLong.entry.code]: 413,
  [BodyTooSlow.entry.code]: 408,
  [TooSlow.entry.code]: 504,
};

/** The status for an error that the router, or an owner's answer, rejected with. */
export function statusOf(error: CodedError): number {
  return statuses[error.code] ?? (isRetryable(error) ? 503 : 500);
}

/** Whether TLS verification of the upstream failed, by the error codes of Node and OpenSSL. */
function isUntrusted(error: Error & { readonly code?: unknown }): error is Error & { readonly code: string } {
  return typeof error.code === "string" && /^(?!ERR_SSL_).*CERT|^UNABLE_TO_|^INVALID_(CA|PURPOSE)$/.test(error.code);
}
