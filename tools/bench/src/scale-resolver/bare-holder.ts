// The least that could hold requests: node:http and undici, an array, no deadlines, no limits, no metrics, no routing,
// no retries.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Dispatcher, Pool } from "undici";
import { answer } from "./remote.ts";

/** Few that are used again and again are faster than many that are opened at once. */
const CONNECTIONS = 32;

interface Held {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

class Passed implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  onRequestStart(): void {
    // Nothing to keep: nothing is ever aborted here.
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    delete headers["connection"];
    delete headers["keep-alive"];
    this.#response.writeHead(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, data: Buffer): void {
    this.#response.write(data);
  }

  onResponseEnd(): void {
    this.#response.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#response.headersSent) this.#response.destroy();
    else this.#response.writeHead(502).end(String(error));
  }
}

const held: Held[] = [];
let pool: Pool | undefined;

function forward({ request, response }: Held, to: Pool): void {
  const { method = "GET", url = "/", headers } = request;
  delete headers.connection;
  delete headers["keep-alive"];
  const body = method === "GET" || method === "HEAD" ? null : request;
  to.dispatch({ method, path: url, headers, body }, new Passed(response));
}

const server = createServer((request, response) => {
  if (pool) forward({ request, response }, pool);
  else held.push({ request, response });
});
server.requestTimeout = 0;
server.headersTimeout = 0;
server.keepAliveTimeout = 65_000;
await once(server.listen(0, "127.0.0.1", 4096), "listening");

const methods = {
  port: () => (server.address() as AddressInfo).port,
  pending: () => held.length,
  release: (origin: string) => {
    const opened = (pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 }));
    for (const each of held) forward(each, opened);
    held.length = 0;
  },
  hold: async () => {
    const closing = pool;
    pool = undefined;
    await closing?.close();
  },
};
export type BareHolder = typeof methods;
answer(methods);
