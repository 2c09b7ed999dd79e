import { createHash } from "node:crypto";
import type { Clock } from "@evenkeel/runtime";
import { Agent, type Dispatcher, ProxyAgent } from "undici";
import { Stopped } from "./errors.ts";
import { Lane } from "./lane.ts";
import type { ServerGuard, ServerGuards } from "./server-guard.ts";

/** How a server is reached and checked. All PEM. */
export interface Trust {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

export interface ConnectionsOptions {
  readonly clock: Clock;
  /** The proxy for requests to a server, if any. */
  readonly proxyFor: (server: URL) => string | undefined;
  /** Which servers a tenant may ask. Absent: all. */
  readonly guards?: ServerGuards | undefined;
}

/** Queries at once to one server, and as many connections. */
const WIDTH = 8;
/** Queries that may wait for one server; more than there are workers never come. */
const BOUND = 2000;
/** Milliseconds after which unused connections are closed. */
const IDLE = 10 * 60_000;
/** Milliseconds in which a connection is made or given up. */
const CONNECT_TIMEOUT = 10_000;
/** Milliseconds for which an idle connection is kept: shorter than servers and load balancers keep theirs. */
const KEEP_ALIVE = 30_000;

/** Connections to metric servers, kept and shared by all callers of the same server with the same settings. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #lanes = new Map<string, Used<Lane>>();
  readonly #dispatchers = new Map<string, Used<Dispatcher>>();
  /** Let go, with queries under way that may end. */
  readonly #retired = new Set<Dispatcher>();
  #sweptAt: number;
  #stopped = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#sweptAt = options.clock.monotonic();
  }

  /** The queue of one server, for all callers. */
  lane(origin: string): Lane {
    this.#sweep();
    return this.#use(this.#lanes, origin, () => new Lane(origin, WIDTH, BOUND));
  }

  /**
   * Connections with the same trusted certificates and the same client certificate. Throws EK_PROMETHEUS_STOPPED after
   * the stop, and EK_PROMETHEUS_SERVER_DENIED for a server that the tenant may not ask. A tenant with a guard of its
   * own shares no connection, because the guard is asked when a connection is made.
   */
  dispatcher(origin: string, trust: Trust, tenant?: string): Dispatcher {
    if (this.#stopped) throw new Stopped({});
    const { guards, proxyFor } = this.#options;
    const guard = guards?.of(tenant);
    const server = new URL(origin);
    guard?.check(server, proxyFor(server) === undefined);
    const hash = createHash("sha256").update(JSON.stringify(trust)).digest("base64");
    const key = `${guard?.tenant ?? ""} ${origin} ${hash}`;
    return this.#use(this.#dispatchers, key, () => this.#connect(origin, trust, guard));
  }

  /** How many servers and ways to them are kept. */
  get kept(): { readonly lanes: number; readonly dispatchers: number } {
    return { lanes: this.#lanes.size, dispatchers: this.#dispatchers.size };
  }

  /** Cuts every connection. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const all = [...this.#retired, ...[...this.#dispatchers.values()].map(({ value }) => value)];
    this.#dispatchers.clear();
    this.#lanes.clear();
    await Promise.all(all.map((dispatcher) => dispatcher.destroy()));
  }

  #connect(origin: string, trust: Trust, guard: ServerGuard | undefined): Dispatcher {
    const uri = this.#options.proxyFor(new URL(origin));
    const options = {
      ...{ connections: WIDTH, pipelining: 1, allowH2: false },
      ...{ keepAliveTimeout: KEEP_ALIVE, keepAliveMaxTimeout: KEEP_ALIVE },
      connect: { ...trust, timeout: CONNECT_TIMEOUT, ...(guard && { lookup: guard.lookup }) },
    };
    if (uri === undefined) return new Agent(options);
    const timeout = { timeout: CONNECT_TIMEOUT };
    return new ProxyAgent({ ...options, uri, requestTls: { ...trust, ...timeout }, connect: timeout });
  }

  #use<T>(kept: Map<string, Used<T>>, key: string, make: () => T): T {
    const value = kept.get(key)?.value ?? make();
    kept.set(key, { value, at: this.#options.clock.monotonic() });
    return value;
  }

  /** Lets go of what was not used for long. Queries that are under way on it end by themselves. */
  #sweep(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#sweptAt < IDLE) return;
    this.#sweptAt = now;
    for (const [key, { value, at }] of this.#lanes) if (now - at >= IDLE && value.idle) this.#lanes.delete(key);
    for (const [key, { value, at }] of this.#dispatchers) {
      if (now - at < IDLE) continue;
      this.#dispatchers.delete(key);
      this.#retired.add(value);
      void value.close().finally(() => this.#retired.delete(value));
    }
  }
}

interface Used<T> {
  readonly value: T;
  /** When it was last asked for, on the monotonic clock. */
  readonly at: number;
}
