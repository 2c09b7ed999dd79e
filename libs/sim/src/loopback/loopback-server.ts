import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Faults } from "../api-server.ts";
import { readBody } from "../serve/body.ts";
import { ApiFault } from "../status.ts";

export interface LoopbackRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface LoopbackAnswer {
  readonly code: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An HTTP server on loopback that answers each request as a whole, faults first. */
export class LoopbackServer {
  readonly #server: Server;

  private constructor(answer: (request: LoopbackRequest) => LoopbackAnswer, faults: Faults) {
    this.#server = createServer((request, response) => void serve(request, response, answer, faults));
  }

  static async start(
    answer: (request: LoopbackRequest) => LoopbackAnswer,
    faults: Faults,
    port = 0,
  ): Promise<LoopbackServer> {
    const started = new LoopbackServer(answer, faults);
    await new Promise<void>((resolve, reject) => {
      started.#server.once("error", reject);
      started.#server.listen(port, "127.0.0.1", resolve);
    });
    return started;
  }

  /** Where clients reach it, such as `http://127.0.0.1:40123`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends every request, also those that hang. */
  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: LoopbackRequest) => LoopbackAnswer,
  faults: Faults,
): Promise<void> {
  try {
    if ((await faults(request, response)) === "handled") return;
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://sim");
    const body = (await readBody(request)).toString("utf8");
    const { method = "GET", headers } = request;
    send(response, answer({ method, path: pathname, query: searchParams, headers, body }));
  } catch (error) {
    const code = error instanceof ApiFault ? error.code : 500;
    if (!response.destroyed) send(response, { code, contentType: "text/plain", body: `${String(error)}\n` });
  }
}

function send(response: ServerResponse, { code, contentType, body, headers = {} }: LoopbackAnswer): void {
  const length = Buffer.byteLength(body);
  response.writeHead(code, { ...headers, "content-type": contentType, "content-length": length }).end(body);
}
