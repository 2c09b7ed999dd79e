import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { buildConnector, Pool } from "undici";
import type { Batch } from "../batch.ts";
import type { Origin } from "../destination.ts";
import type { ForwardLimits } from "../limits.ts";
import type { Tally } from "../tally.ts";
import { Timed, type Wheel } from "../wheel.ts";
import { H2cSessions } from "./h2c-sessions.ts";
import { H2cTry } from "./h2c-try.ts";
import { HttpTry } from "./http-try.ts";
import { type OriginTlsOptions, tlsOptions } from "./tls-options.ts";
import type { Ask, Try } from "./try.ts";
import { UndiciTry } from "./undici-try.ts";

export interface OriginPoolOptions {
  readonly origin: Origin;
  readonly limits: ForwardLimits;
  /** Milliseconds until a connection attempt is aborted, even if requests still wait for it. */
  readonly connectTimeout: number;
  readonly tally: Tally;
  readonly wheel: Wheel;
  readonly batch: Batch;
  readonly now: () => number;
  /** Called when the pool closed itself because it was idle. */
  readonly idle: (pool: OriginPool) => void;
}

/**
 * The connections to one origin: undici's for requests without a body, an agent's for bodies and upgrades, and HTTP/2
 * sessions. Each is created on first use. All are closed when the pool was not used for `limits.upstreamIdle`.
 */
export class OriginPool extends Timed {
  readonly origin: Origin;
  readonly #options: OriginPoolOptions;
  readonly #tls: OriginTlsOptions | undefined;
  readonly #sockets = new Set<Socket>();
  #undici: Pool | undefined;
  #agent: TrackedAgent | undefined;
  #sessions: H2cSessions | undefined;
  #inFlight = 0;
  #used: number;
  #closed = false;

  constructor(options: OriginPoolOptions) {
    super();
    this.origin = options.origin;
    this.#options = options;
    this.#tls = tlsOptions(options.origin);
    this.#used = options.now();
    options.wheel.set(this, options.limits.upstreamIdle);
  }

  /** Exchanges with a try at this origin, or a tunnel to it. */
  get inFlight(): number {
    return this.#inFlight;
  }

  get closed(): boolean {
    return this.#closed;
  }

  enter(): void {
    this.#inFlight += 1;
  }

  leave(now: number): void {
    this.#inFlight -= 1;
    this.#used = now;
  }

  start(ask: Ask): Try {
    const { asker, path } = ask;
    if (this.origin.protocol === "h2c" && asker.upgrade === undefined) {
      const running = new H2cTry(asker);
      running.start((this.#sessions ??= this.#newSessions()), ask);
      return running;
    }
    if (asker.hasBody || asker.upgrade !== undefined || !path.startsWith("/")) {
      const running = new HttpTry(asker);
      running.start((this.#agent ??= this.#newAgent()), this.#options.limits.headBytes, ask);
      return running;
    }
    // Without a constant name, undici would open another connection for each Host.
    const name = this.#tls ? this.origin.host : undefined;
    const running = new UndiciTry((this.#undici ??= this.#newUndici()), ask, name);
    this.#options.batch.toUpstream(running);
    return running;
  }

  override expire(): void {
    const { wheel, limits, now, idle } = this.#options;
    const rest = this.#inFlight > 0 ? limits.upstreamIdle : this.#used + limits.upstreamIdle - now();
    if (rest > 0) {
      wheel.set(this, rest);
      return;
    }
    this.close();
    idle(this);
  }

  /** Closes every connection at once. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.wheel.clear(this);
    this.#agent?.destroy();
    this.#sessions?.close();
    this.#undici?.destroy().catch(() => undefined);
    for (const socket of this.#sockets) socket.destroy();
  }

  #newUndici(): Pool {
    const { limits, connectTimeout } = this.#options;
    const tls = this.#tls;
    const open = buildConnector({
      timeout: connectTimeout,
      keepAlive: true,
      keepAliveInitialDelay: 15_000,
      allowH2: false,
      // A resumed session would not verify the server again.
      maxCachedSessions: 0,
      ...tls,
    });
    return new Pool(`${tls ? "https" : "http"}://${authority(this.origin)}`, {
      allowH2: false,
      connections: limits.upstreamConnections,
      pipelining: 1,
      keepAliveTimeout: limits.upstreamIdle,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: limits.headBytes,
      connect: (options, callback) => {
        const named = tls ? { ...options, servername: tls.servername ?? "" } : options;
        open(named, (...result) => {
          if (result[1]) this.#track(result[1]);
          callback(...result);
        });
      },
    });
  }

  #newAgent(): TrackedAgent {
    const { limits } = this.#options;
    return new TrackedAgent((options) => this.#connect(options), limits);
  }

  #newSessions(): H2cSessions {
    return new H2cSessions(`http://${authority(this.origin)}`, this.#options.limits, () =>
      this.#connect({ host: this.origin.host, port: this.origin.port }),
    );
  }

  #connect(options: { readonly host?: string; readonly port?: number }): Socket {
    const { host = this.origin.host, port = this.origin.port } = options;
    const settings = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 };
    const socket = this.#tls ? connectTls({ ...settings, ...this.#tls }) : connect(settings);
    this.#track(socket);
    return socket;
  }

  #track(socket: Socket): void {
    const { tally } = this.#options;
    this.#sockets.add(socket);
    tally.opened("upstream");
    socket.once("close", () => {
      this.#sockets.delete(socket);
      tally.closed("upstream");
    });
    if (this.#closed) socket.destroy();
  }
}

/** An agent that counts its connections. */
export class TrackedAgent extends Agent {
  readonly #open: (options: { readonly host?: string; readonly port?: number }) => Socket;

  constructor(open: (options: { readonly host?: string; readonly port?: number }) => Socket, limits: ForwardLimits) {
    super({
      keepAlive: true,
      maxSockets: limits.upstreamConnections,
      maxFreeSockets: 64,
      scheduling: "lifo",
      timeout: limits.upstreamIdle,
    });
    this.#open = open;
  }

  override createConnection(options: { host?: string; port?: number }): Duplex {
    return this.#open(options);
  }
}

function authority({ host, port }: Origin): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
