import { CodedError, explain, runtimeErrors } from "@evenkeel/runtime";
import { bounded } from "./bounded-text.ts";

/** Characters of a server's own words that are passed on. */
const WORDS = 300;

/** An answer that is no success. */
export interface Refusal {
  readonly status: number;
  readonly location: string | undefined;
  /** The server's own, if it said something. */
  readonly words: string;
  /** Why the body is none of Prometheus, if it is none. */
  readonly why: string | undefined;
}

/** What an answer other than a success means, and what to do about it. */
export function refusalMessage({ status, location, words, why }: Refusal): string {
  const said = words === "" ? "" : ` (${bounded(words, WORDS)})`;
  if (status >= 300 && status < 400)
    return `the server redirects to ${shownLocation(location)}, which is not followed: set address to where it serves`;
  switch (status) {
    case 400:
    case 422:
      return `the server refuses the query${said}: correct query`;
    case 401:
      return `the server does not accept the credentials (401)${said}: see auth and headers`;
    case 403:
      return `the server forbids the query (403)${said}: see auth, headers and what the account may read`;
    case 404:
      return `nothing serves queries at this address (404)${said}: is its path complete?`;
    case 407:
      return "the proxy asks for credentials (407): see HTTPS_PROXY";
    case 429:
      return `the server has too much to do (429)${said}: lengthen spec.interval or lighten the query`;
    case 503:
      return `the server could not answer in time or is not ready (503)${said}: lighten the query or raise timeout`;
  }
  if (status < 200 || status >= 300) return `the server failed with status ${status}${said}: see its log`;
  if (why === undefined) return `the server refuses the query${said}: correct query`;
  return `the answer is none of Prometheus, ${why}: is the address that of its API?`;
}

/** A query that was sent, or would have been. */
export interface Attempt {
  /** What it was given. */
  readonly seconds: number;
  /** It went over TLS. */
  readonly isSecure: boolean;
}

/** What a query that got no answer died of, and what to do about it. */
export function failureMessage(error: unknown, { seconds, isSecure }: Attempt): string {
  if (error instanceof runtimeErrors.DeadlineExceeded)
    return `no whole answer within ${seconds} s: is the server up? If it is merely slow, lighten the query or raise timeout`;
  const words = bounded(explain(error), WORDS);
  if (error instanceof CodedError) return words;
  const code = codesOf(error);
  if (code.some((one) => TRUST.test(one)))
    return `the server's certificate is not trusted (${words}): see tls.caSecretRef and tls.serverName`;
  if (code.some((one) => TLS.test(one)))
    return `no TLS connection (${words}): is it https, and are tls.certSecretRef and tls.keySecretRef what the server wants?`;
  if (code.some((one) => CONNECT.test(one))) return `no connection (${words}): is the address right and the server up?`;
  // A server of TLS 1.3 that wants another certificate only closes the connection.
  const hint = isSecure ? " Does it ask for a client's certificate (tls.certSecretRef)?" : "";
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

/** Without credentials and parameters, which may hold some. */
function shownLocation(location: string | undefined): string {
  const url = URL.parse(location ?? "", "http://relative.invalid");
  if (location === undefined || url === null) return "another place";
  return bounded(url.hostname === "relative.invalid" ? url.pathname : url.origin + url.pathname, WORDS);
}
