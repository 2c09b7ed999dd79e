import { parsePrometheusTrigger } from "@evenkeel/api";
import { bounded, headerFault, parseAddress, type ServerAddress } from "@evenkeel/prometheus";
import type { Trigger } from "../../binding.ts";

/** What a trigger of type prometheus asks, checked and with every default filled in. */
export interface PrometheusTrigger {
  readonly server: Server;
  readonly query: string;
  /** The service is idle below it. */
  readonly threshold: number;
  /** Matchers of the series `up` that tells whether the server itself, or what it reads from, was up. */
  readonly uptimeFilter: string;
}

/** Whom to ask, and with what. */
export interface Server {
  readonly address: ServerAddress;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

const DEFAULT_UPTIME_FILTER = 'container="prometheus"';

/** Characters of a query, and of a filter. */
const LONGEST_QUERY = 32_768;
const MOST_HEADERS = 32;
/** Characters of a header. Servers take some kilobytes of all headers together. */
const LONGEST_HEADER = 8192;

/** Reads a trigger, or says in words for a person why it cannot be read. No value of a header is in them. */
export function prometheusTrigger(
  metadata: unknown,
  defaultAddress: URL | undefined,
): PrometheusTrigger | { readonly fault: string } {
  const parsed = parsePrometheusTrigger(metadata ?? {});
  if (!parsed.ok) return { fault: `its metadata is invalid: ${bounded(parsed.errors.join("; "), 300)}` };
  const { query, serverAddress, threshold, headers = {} } = parsed.value;
  const uptimeFilter = parsed.value.uptimeFilter.trim() || DEFAULT_UPTIME_FILTER;
  if (query.trim() === "") return { fault: "its query is empty" };
  if (query.length > LONGEST_QUERY || uptimeFilter.length > LONGEST_QUERY)
    return { fault: `its query or uptimeFilter is longer than ${LONGEST_QUERY} characters` };
  const fault = faultOfHeaders(Object.entries(headers));
  if (fault !== undefined) return { fault };

  const named = serverAddress?.trim() || defaultAddress?.href;
  if (named === undefined) return { fault: "it has no serverAddress, and --prometheus-address is not set" };
  const address = parseAddress(named);
  if (!address) return { fault: "its serverAddress is not an http:// or https:// URL such as http://prometheus:9090" };
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { server: { address, headers: Object.fromEntries(lower) }, query, threshold, uptimeFilter };
}

function faultOfHeaders(headers: readonly (readonly [name: string, value: string])[]): string | undefined {
  if (headers.length > MOST_HEADERS) return `it has more than ${MOST_HEADERS} headers`;
  for (const [name, value] of headers) {
    if (name.length > 256 || value.length > LONGEST_HEADER) return "one of its headers is too long";
    const fault = headerFault(name, value);
    if (fault !== undefined) return `its headers: ${fault}`;
  }
  return undefined;
}

/** How a person would name it. */
export function nameOf({ type, metadata }: Trigger): string {
  const query = (metadata as { readonly query?: unknown } | undefined)?.query;
  return typeof query === "string" && query.trim() !== "" ? `${type} ${bounded(query, 100)}` : type;
}
