import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import type { Cluster } from "@evenkeel/control-plane";

interface Watched {
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Milliseconds before a retry if the API server does not respond. */
const RETRY_MS = 200;

/**
 * Yields all objects of a kind on each change, once all are known, until `signal` aborts. While the API server is away
 * nothing is yielded. `path` is the kind's, such as `/api/v1/services`.
 */
export async function* watchObjects<T>(
  cluster: Cluster,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<readonly T[]> {
  while (!signal.aborted) {
    try {
      yield* watchOnce<T>(cluster, path, signal);
    } catch {
      // The next attempt detects whether it is back.
    }
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function* watchOnce<T>(cluster: Cluster, path: string, signal: AbortSignal): AsyncGenerator<readonly T[]> {
  // The existing objects come first, and a bookmark marks their end (https://kep.k8s.io/3157).
  const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const response = await open(cluster, `${cluster.server}${path}?${query}`, signal);
  const objects = new Map<string, T & Watched>();
  let whole = false;
  for await (const line of linesOf(response)) {
    const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: T & Watched };
    if (type === "ERROR") return;
    if (type === "DELETED") objects.delete(object.metadata.uid);
    else if (type === "BOOKMARK") whole ||= object.metadata.annotations?.["k8s.io/initial-events-end"] === "true";
    else objects.set(object.metadata.uid, object);
    if (whole) yield [...objects.values()];
  }
}

async function open(cluster: Cluster, url: string, signal: AbortSignal): Promise<IncomingMessage> {
  const { certificate, key } = cluster.admin;
  const identity = { ca: readFileSync(cluster.caFile), cert: readFileSync(certificate), key: readFileSync(key) };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(url, { ...identity, agent: false, signal }, resolve).on("error", reject);
  const response = await promise;
  if (response.statusCode === 200) return response;
  response.destroy();
  throw new Error(`${url} answers ${response.statusCode ?? "nothing"}`);
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let rest = "";
  for await (const text of response.setEncoding("utf8") as AsyncIterable<string>) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
