import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { expect } from "@jest/globals";
import { MetricRegistry } from "@evenkeel/metrics";
import { createLogger, systemClock } from "@evenkeel/runtime";
import { eventually } from "@evenkeel/runtime/testing";
import { type Counts, Forwarder, type ForwarderOptions, type Origin, type Router } from "../../src/index.ts";
import type { Transport } from "./transport.ts";

export interface StageOptions extends Partial<Omit<ForwarderOptions, "router">> {
  readonly router?: Router;
  readonly origin?: Origin;
}

/** A forwarder on loopback, with a log that can be read. */
export class Stage implements AsyncDisposable {
  readonly forwarder: Forwarder;
  readonly registry = new MetricRegistry();
  readonly lines: string[] = [];

  constructor(options: StageOptions) {
    const { origin } = options;
    this.forwarder = new Forwarder({
      name: "main",
      host: "127.0.0.1",
      port: 0,
      flag: "port",
      router: { route: () => ({ origin: origin as Origin }) },
      clock: systemClock,
      log: createLogger({
        service: "test",
        level: "info",
        secrets: [],
        destination: { write: (line) => this.lines.push(line) },
      }),
      registry: this.registry,
      ...options,
    });
  }

  static async start(options: StageOptions): Promise<Stage> {
    const stage = new Stage(options);
    await stage.forwarder.start();
    return stage;
  }

  get port(): number {
    return this.forwarder.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Resolves once the counts are as `wanted`; rejects with what they are after `within` milliseconds. */
  settled(wanted: Partial<Counts> = { exchanges: 0, tunnels: 0, timers: 0 }, within = 5_000): Promise<void> {
    return eventually(() => expect(this.forwarder.counts()).toMatchObject(wanted), within);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const now = AbortSignal.abort();
    await this.forwarder.drain(now);
    await this.forwarder.stop(now);
  }
}

/** An upstream of node:http. */
export class HttpUpstream implements AsyncDisposable {
  readonly server: Server;
  readonly #transport: Transport;

  private constructor(server: Server, transport: Transport) {
    this.server = server;
    this.#transport = transport;
  }

  static async start(listener?: RequestListener, transport: Transport = {}): Promise<HttpUpstream> {
    const server = transport.server ? createHttpsServer(transport.server, listener) : createServer(listener);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new HttpUpstream(server, transport);
  }

  get origin(): Origin {
    return { ...http1(this.server), tls: this.#transport.tls };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.server, "close");
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}

export function http1(server: { address(): AddressInfo | string | null }): Origin {
  return { host: "127.0.0.1", port: (server.address() as AddressInfo).port, protocol: "http1" };
}
