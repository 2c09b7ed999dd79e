import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Seen, Upstream } from "./seen.ts";

export interface NodeUpstream extends Upstream {
  /** What its parser could not read, and why, except for connections that ended inside a request. */
  readonly unreadable: readonly string[];
}

/** An upstream on node:http that writes down every request as it understood it. */
export async function startNodeUpstream(): Promise<NodeUpstream> {
  let requests: Seen[] = [];
  const unreadable: string[] = [];
  const server = createServer((request, response) => {
    const hash = createHash("sha1");
    let bytes = 0;
    request.on("data", (part: Buffer) => {
      bytes += part.length;
      hash.update(part);
    });
    request.on("error", () => undefined);
    request.on("close", () => requests.push(seen(request, bytes, hash.digest("hex"))));
    request.on("end", () => response.setHeader("x-upstream", "node").end("node\n"));
  });
  server.on("clientError", (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    const { code = "", rawPacket } = error;
    if (code !== "ECONNRESET" && code !== "HPE_INVALID_EOF_STATE")
      unreadable.push(`${code}: ${rawPacket?.toString("latin1") ?? "nothing"}`);
    socket.destroy();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    unreadable,
    taken: () => {
      const taken = requests;
      requests = [];
      return Promise.resolve(taken);
    },
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function seen(request: IncomingMessage, bytes: number, digest: string): Seen {
  const headers: [string, string][] = [];
  const { rawHeaders: raw } = request;
  for (let index = 0; index < raw.length; index += 2)
    headers.push([(raw[index] ?? "").toLowerCase(), raw[index + 1] ?? ""]);
  headers.sort((a, b) => (a.join(":") < b.join(":") ? -1 : 1));
  return {
    id: String(request.headers["x-fuzz-id"] ?? ""),
    method: request.method ?? "",
    path: request.url ?? "",
    host: request.headers.host ?? "",
    headers,
    bytes,
    digest,
    complete: request.complete,
  };
}
