import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { isTrue } from "../serve/selection.ts";
import { notSimulated } from "../status.ts";
import type { PodStreams, PodTarget } from "./pod-streams.ts";

/** Sends a log as it comes, until it ends or the client disconnects. */
export function serveLog(
  programs: PodStreams,
  target: PodTarget,
  query: URLSearchParams,
  response: ServerResponse,
): void {
  if (programs.log === undefined) throw notSimulated("pods/log");
  const tail = query.get("tailLines");
  const left = new AbortController();
  const follow = isTrue(query.get("follow"));
  const tailLines = tail === null ? undefined : Number(tail);
  const parts = Readable.from(programs.log(target, { follow, tailLines, signal: left.signal }));
  response.writeHead(200, { "content-type": "text/plain" }).flushHeaders();
  parts.on("error", () => response.destroy());
  response.once("close", () => {
    left.abort();
    parts.destroy();
  });
  parts.pipe(response);
}
