// http-proxy as one would run it in production: connections to the upstream are kept. Prints the port that it listens
// on.
import { Agent, createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

/** What is used of http-proxy, which has no types of its own. */
interface HttpProxy {
  web(request: IncomingMessage, response: ServerResponse): void;
  ws(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  on(event: "error", listener: (error: Error, request: IncomingMessage, client: ServerResponse | Duplex) => void): void;
}

const { createProxyServer } = createRequire(import.meta.url)("http-proxy") as {
  readonly createProxyServer: (options: { target: string | undefined; agent: Agent; xfwd: boolean }) => HttpProxy;
};
const proxy = createProxyServer({ target: process.argv[2], agent: new Agent({ keepAlive: true }), xfwd: true });
proxy.on("error", (_error, _request, client) => {
  if ("writeHead" in client) client.writeHead(502).end();
  else client.destroy();
});
const forward: RequestListener = (request, response) => proxy.web(request, response);
const server = createServer(forward).listen(0, "127.0.0.1", () => {
  console.log((server.address() as AddressInfo).port);
});
server.on("upgrade", (request, socket, head) => proxy.ws(request, socket, head));
