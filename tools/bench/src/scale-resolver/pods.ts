// A process in which pods live: HTTP servers on addresses of their own, which write down what reaches them.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { answer } from "./remote.ts";

const servers = new Map<string, Server>();
/** How often each request has come, by its id. */
const seen = new Map<string, number>();

/** Says what it got: the client's id, and the sum of the body that came with it. */
function serve(request: IncomingMessage, response: ServerResponse): void {
  const id = String(request.headers["x-bench-id"]);
  seen.set(id, (seen.get(id) ?? 0) + 1);
  if (request.method === "GET") {
    reply(response, id, "");
    return;
  }
  const sum = createHash("sha256");
  request.on("data", (part: Buffer) => sum.update(part));
  request.on("end", () => reply(response, id, sum.digest("hex")));
}

function reply(response: ServerResponse, id: string, sum: string): void {
  const body = `${id} ${sum}`;
  response.writeHead(200, { "content-type": "text/plain", "content-length": body.length });
  response.end(body);
}

const methods = {
  /** From here on it takes connections; before, they are refused. */
  listen: async ({ address, port }: { address: string; port: number }) => {
    const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000 }, serve);
    await once(server.listen(port, address, 4096), "listening");
    servers.set(address, server);
  },
  close: ({ address }: { address: string }) => {
    servers.get(address)?.close();
    servers.get(address)?.closeAllConnections();
    servers.delete(address);
  },
  /** What has come since the last question. */
  tally: () => {
    const counts = [...seen.values()];
    seen.clear();
    return { requests: counts.length, twice: counts.filter((count) => count > 1).length };
  },
};
export type Pods = typeof methods;
answer(methods);
