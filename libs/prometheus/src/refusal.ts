import type { Advice } from "./advice.ts";
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
export function refusalMessage({ status, location, words, why }: Refusal, advice: Advice): string {
  const said = words === "" ? "" : ` (${bounded(words, WORDS)})`;
  if (status >= 300 && status < 400)
    return `the server redirects to ${shownLocation(location)}, which is not followed: ${advice.address}`;
  switch (status) {
    case 400:
    case 422:
      return `the server refuses the query${said}: correct query`;
    case 401:
      return `the server does not accept the credentials (401)${said}: ${advice.credentials}`;
    case 403:
      return `the server forbids the query (403)${said}: ${advice.permission}`;
    case 404:
      return `nothing serves queries at this address (404)${said}: is its path complete?`;
    case 407:
      return "the proxy asks for credentials (407): see HTTPS_PROXY";
    case 429:
      return `the server has too much to do (429)${said}: ${advice.load}`;
    case 503:
      return `the server could not answer in time or is not ready (503)${said}: ${advice.time}`;
  }
  if (status < 200 || status >= 300) return `the server failed with status ${status}${said}: see its log`;
  if (why === undefined) return `the server refuses the query${said}: correct query`;
  return `the answer is none of Prometheus, ${why}: is the address that of its API?`;
}

/** Without credentials and parameters, which may hold some. */
function shownLocation(location: string | undefined): string {
  const url = URL.parse(location ?? "", "http://relative.invalid");
  if (location === undefined || url === null) return "another place";
  return bounded(url.hostname === "relative.invalid" ? url.pathname : url.origin + url.pathname, WORDS);
}
