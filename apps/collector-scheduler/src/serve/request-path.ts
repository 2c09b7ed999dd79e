/** What a caller of the target allocator's API asks for. */
export interface AllocatorRequest {
  /** The CollectorLoadBalancer, as `namespace/name`; absent at the bare paths. */
  readonly fleet?: string;
  /** Receiver without its `prometheus/`; absent for the receiver `prometheus`. */
  readonly receiver?: string;
  readonly asks: Asks;
}

type Asks =
  | { readonly for: "scrape_configs" | "jobs" }
  | { readonly for: "targets"; readonly job: string; readonly collector?: string };

/** Where callers reach the receiver of a CollectorLoadBalancer: `/collectors/shop/sample/x` for `prometheus/x`. */
export function endpointPath(namespace: string, name: string, receiver: string): string {
  const suffix = receiver.replace(/^prometheus\/?/, "");
  return `/collectors/${namespace}/${name}${suffix === "" ? "" : `/${encodeURIComponent(suffix)}`}`;
}

/**
 * Reads a request's target, undefined if there is no such path. Jobs are escaped by Go's QueryEscape, in which a plus
 * is a space, so the raw path is read.
 *
 *     [/collectors/{namespace}/{name}[/{receiver}]]/scrape_configs
 *                                                  /jobs
 *                                                  /jobs/{job}/targets[?collector_id={pod}]
 */
export function readRequest(target: string): AllocatorRequest | undefined {
  const [path, query = ""] = split(target, "?");
  const [, ...segments] = path.split("/");
  const [first, namespace = "", name = "", ...rest] = segments;
  if (first !== "collectors") return asked(segments, query, {});
  if (namespace === "" || name === "") return undefined;
  const fleet = `${namespace}/${name}`;
  // A receiver adds one segment, so that the number of segments says whether there is one.
  if (rest.length % 2 === 1) return asked(rest, query, { fleet });
  const [receiver, ...below] = rest;
  const decoded = receiver === undefined ? undefined : unescaped(receiver);
  return decoded === undefined ? undefined : asked(below, query, { fleet, receiver: decoded });
}

function asked(
  segments: readonly string[],
  query: string,
  of: Omit<AllocatorRequest, "asks">,
): AllocatorRequest | undefined {
  const [first, job = "", last] = segments;
  if (segments.length === 1 && (first === "scrape_configs" || first === "jobs")) return { ...of, asks: { for: first } };
  if (segments.length !== 3 || first !== "jobs" || last !== "targets") return undefined;
  const name = unescaped(job);
  if (name === undefined) return undefined;
  const collector = new URLSearchParams(query).get("collector_id") ?? undefined;
  return { ...of, asks: { for: "targets", job: name, ...(collector !== undefined && { collector }) } };
}

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

function split(text: string, by: string): readonly [string, string?] {
  const at = text.indexOf(by);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** As Go's url.QueryEscape writes it: collectors that follow a link of ours expect that form. */
export function queryEscape(text: string): string {
  return encodeURIComponent(text)
    .replaceAll("%20", "+")
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
