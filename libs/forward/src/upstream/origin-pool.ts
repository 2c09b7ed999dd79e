import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import type { Batch } from "../batch.ts";
import type { Origin } from "../destination.ts";
import type { ForwardLimits } from "../limits.ts";
import type { Tally } from "../tally.ts";
import { Timed, type Wheel } from "../wheel.ts";
import { Connections } from "./connections.ts";
import { H2cSessions } from "./h2c-sessions.ts";
import { H2cTry } from "./h2c-try.ts";
import { HttpTry } from "./http-try.ts";
import { PlainTry } from "./plain-try.ts";
import { type OriginTlsOptions, tlsOptions } from "./tls-options.ts";
import type { Ask, Try } from "./try.ts";

export interface OriginPoolOptions {
  readonly origin: Origin;
  readonly limits: ForwardLimits;
  readonly tally: Tally;
  readonly wheel: Wheel;
  readonly batch: Batch;
  readonly now: () => number;
  /** Called when the pool closed itself because it was idle. */
  readonly idle: (pool: OriginPool) => void;
}

/**
 * The connections to one origin: those for requests without a body, an agent's for bodies and upgrades, and HTTP/2
 * sessions. Each is created on first use. All are closed when the pool was not used for `limits.upstreamIdle`.
 */
export class OriginPool extends Timed {
  readonly origin: Origin;
  readonly #options: OriginPoolOptions;
  readonly #tls: OriginTlsOptions | undefined;
  readonly #sockets = new Set<Socket>();
  #plain: Connections | undefined;
  #agent: TrackedAgent | undefined;
  #sessions: H2cSessions | undefined;
  #inFlight = 0;
  #used: number;
  /** When the timer expires, in monotonic milliseconds. */
  #due = 0;
  #closed = false;

  constructor(options: OriginPoolOptions) {
    super();
    this.origin = options.origin;
    this.#options = options;
    this.#tls = tlsOptions(options.origin);
    this.#used = options.now();
    this.#wakeIn(options.limits.upstreamIdle, this.#used);
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
    const running = new PlainTry((this.#plain ??= this.#newPlain()), ask);
    this.#options.batch.toUpstream(running);
    return running;
  }

  override expire(): void {
    const { limits, now, idle } = this.#options;
    const at = now();
    const next = this.#plain?.sweep(at) ?? Infinity;
    const rest = this.#inFlight > 0 ? limits.upstreamIdle : this.#used + limits.upstreamIdle - at;
    if (rest > 0) {
      this.#wakeIn(Math.min(rest, next - at), at);
      return;
    }
    this.close();
    idle(this);
  }

  #wakeIn(delay: number, now: number): void {
    this.#due = now + delay;
    this.#options.wheel.set(this, delay);
  }

  /** Closes every connection at once. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.wheel.clear(this);
    this.#agent?.destroy();
    this.#sessions?.close();
    this.#plain?.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #newPlain(): Connections {
    const { limits, batch, now } = this.#options;
    return new Connections({
      open: () => this.#connect({}),
      isTls: this.#tls !== undefined,
      headBytes: limits.headBytes,
      most: limits.upstreamConnections,
      idle: limits.upstreamIdle,
      batch,
      now,
      due: (until) => {
        const at = now();
        if (until < this.#due) this.#wakeIn(until - at, at);
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
    // node:tls ignores both settings.
    if (this.#tls) socket.setNoDelay(true).setKeepAlive(true, settings.keepAliveInitialDelay);
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
