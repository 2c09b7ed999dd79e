import { CodedError, explain, runtimeErrors } from "@evenkeel/runtime";
import type { Advice } from "./advice.ts";
import { bounded } from "./bounded-text.ts";

/** Characters of an error's words that are passed on. */
const WORDS = 300;

/** A query that was sent, or would have been. */
export interface Attempt {
  /** What it was given. */
  readonly seconds: number;
  /** It went over TLS. */
  readonly isSecure: boolean;
}

/** What a query that got no answer died of, and what to do about it. */
export function failureMessage(error: unknown, { seconds, isSecure }: Attempt, advice: Advice): string {
  if (error instanceof runtimeErrors.DeadlineExceeded)
    return `no whole answer within ${seconds} s: is the server up? If it is merely slow, ${advice.time}`;
  const words = bounded(explain(error), WORDS);
  if (error instanceof CodedError) return words;
  const code = codesOf(error);
  if (code.some((one) => TRUST.test(one))) return `the server's certificate is not trusted (${words}): ${advice.trust}`;
  if (code.some((one) => TLS.test(one))) return `no TLS connection (${words}): ${advice.handshake}`;
  if (code.some((one) => CONNECT.test(one))) return `no connection (${words}): is the address right and the server up?`;
  // A server of TLS 1.3 that wants another certificate only closes the connection.
  const hint = isSecure ? ` ${advice.clientCertificate}` : "";
  return `the connection broke (${words}): is the server up?${hint}`;
}

const TRUST = /^(?:CERT_|UNABLE_TO_|ERR_TLS_CERT_ALTNAME_INVALID|DEPTH_ZERO|SELF_SIGNED|INVALID_CA|HOSTNAME_MISMATCH)/;
const TLS = /^(?:ERR_SSL|ERR_TLS|ERR_OSSL|EPROTO)/;
const CONNECT = /^(?:ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)/;

/** Whether a connection that was kept may have been closed just as it was used again. */
export function isCut(error: unknown): boolean {
  return codesOf(error).some((one) => CUT.test(one));
}

const CUT = /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE)$/;

/** The codes of an error and of what led to it, also where there were several attempts. */
function codesOf(error: unknown, depth = 0): readonly string[] {
  if (typeof error !== "object" || error === null || depth > 4) return [];
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  const several: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const deeper = [cause, ...several].flatMap((inner) => codesOf(inner, depth + 1));
  return typeof code === "string" ? [code, ...deeper] : deeper;
}
