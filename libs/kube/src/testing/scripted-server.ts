import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo, Socket } from "node:net";

/** An HTTP server on loopback that a test scripts. */
export class ScriptedServer implements AsyncDisposable {
  /** Every request, in order. */
  readonly requests: IncomingMessage[] = [];
  /** Connections that were ever opened. */
  connections = 0;
  readonly open = new Set<Socket>();
  readonly #server: Server;
  readonly #scheme: string;

  private constructor(answer: RequestListener, tls: ServerOptions | undefined) {
    const listener: RequestListener = (request, response) => {
      this.requests.push(request);
      answer(request, response);
    };
    this.#server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
    this.#scheme = tls === undefined ? "http" : "https";
    this.#server.on("connection", (socket: Socket) => {
      this.connections += 1;
      this.open.add(socket);
      socket.on("close", () => this.open.delete(socket));
    });
  }

  static async start(answer: RequestListener, tls?: ServerOptions): Promise<ScriptedServer> {
    const server = new ScriptedServer(answer, tls);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}`;
  }

  /** Uses another certificate for new connections. */
  present(tls: ServerOptions): void {
    (this.#server as unknown as { setSecureContext(options: ServerOptions): void }).setSecureContext(tls);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}

export function answerJson(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

export function statusBody(code: number, reason: string, message: string, details: object = {}): object {
  return { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message, details };
}
