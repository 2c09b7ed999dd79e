import { parsePrometheusTrigger } from "@evenkeel/api";
import { bounded, headerFault, parseAddress, type ServerAddress } from "@evenkeel/prometheus";
import type { Trigger } from "../../binding.ts";

/** A validated trigger of type prometheus, with every default filled in. */
export interface PrometheusTrigger {
  readonly server: Server;
  readonly query: string;
  /** The service is idle below this value. */
  readonly threshold: number;
  /** Matchers of the `up` series that shows whether the server, or its source, was up. */
  readonly uptimeFilter: string;
}

/** The server of a query, and the headers to send. */
export interface Server {
  readonly address: ServerAddress;
  /** Names are lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

const DEFAULT_UPTIME_FILTER = 'container="prometheus"';

/** Maximum characters of a query, and of a filter. */
const LONGEST_QUERY = 32_768;
const MOST_HEADERS = 32;
/** Maximum characters of a header. Servers accept some kilobytes for all headers together. */
const LONGEST_HEADER = 8192;

/** Parses a trigger. If it is invalid, `fault` says why, without header values. */
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

/** The trigger's name for a person. */
export function nameOf({ type, metadata }: Trigger): string {
  const query = (metadata as { readonly query?: unknown } | undefined)?.query;
  return typeof query === "string" && query.trim() !== "" ? `${type} ${bounded(query, 100)}` : type;
}
