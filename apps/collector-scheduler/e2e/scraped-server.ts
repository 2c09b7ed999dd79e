import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** As many targets as are asked for: one server that answers at all addresses of the loopback interface. */
export class ScrapedServer implements AsyncDisposable {
  readonly #server = createServer((_, response) => {
    response.setHeader("Content-Type", "text/plain").end("things 1\n");
  });

  static async start(): Promise<ScrapedServer> {
    const targets = new ScrapedServer();
    targets.#server.listen(0, "0.0.0.0");
    await once(targets.#server, "listening");
    return targets;
  }

  /** Addresses from number `first` on, each another one. */
  addresses(count: number, first = 1): readonly string[] {
    const { port } = this.#server.address() as AddressInfo;
    return Array.from({ length: count }, (_, index) => `127.0.1.${first + index}:${port}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
