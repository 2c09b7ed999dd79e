import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A query that gets no answer. */
export interface HangingQuery {
  /** Whether the client still waits. */
  isOpen: boolean;
}

/** A metric server that accepts queries and never answers. */
export class HangingServer implements AsyncDisposable {
  readonly #server: Server;
  #waiting: ((query: HangingQuery) => void)[] = [];

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request) => {
      const query: HangingQuery = { isOpen: true };
      request.socket.once("close", () => (query.isOpen = false));
      for (const told of this.#waiting.splice(0)) told(query);
    });
  }

  static async start(): Promise<HangingServer> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new HangingServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves with the next query that arrives. */
  nextQuery(): Promise<HangingQuery> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
