import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A target allocator that says what a test tells it to say, and targets that it may name. */
export class ScriptedAllocator implements AsyncDisposable {
  /** Answers of the allocator by path and query. */
  readonly answers = new Map<string, Answer>();
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  readonly #server = createServer((request, response) => this.#answer(request, response));

  static async start(): Promise<ScriptedAllocator> {
    const allocator = new ScriptedAllocator();
    await new Promise<void>((resolve) => allocator.#server.listen(0, "127.0.0.1", resolve));
    return allocator;
  }

  /** Where both the allocator and every target answer. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  say(path: string, body: unknown, status = 200): void {
    this.answers.set(path, { status, body: typeof body === "string" ? body : JSON.stringify(body) });
  }

  /** Lists a target a group, each with a label `instance` of its own. */
  sayTargets(path: string, ...instances: string[]): void {
    this.say(
      path,
      instances.map((instance) => ({ targets: [this.address], labels: { instance } })),
    );
  }

  /** A collector's configuration that asks here, as quickly as the receiver can. */
  config(collector: string): string {
    return JSON.stringify({
      receivers: {
        prometheus: {
          config: {},
          target_allocator: {
            endpoint: `http://${this.address}`,
            interval: "1s",
            collector_id: collector,
            http_sd_config: { refresh_interval: "1s" },
          },
        },
      },
      exporters: { counting: {} },
      service: { pipelines: { metrics: { receivers: ["prometheus"], exporters: ["counting"] } } },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer({ url = "" }: IncomingMessage, response: ServerResponse): void {
    if (url === "/metrics") {
      response.setHeader("Content-Type", "text/plain").end("things 1\n");
      return;
    }
    this.asked.push(url);
    const { status, body } = this.answers.get(url) ?? { status: 404, body: "nothing is said of this path" };
    response.writeHead(status, { "Content-Type": "application/json" }).end(body);
  }
}
