import { MetricRegistry } from "@evenkeel/metrics";
import { type Clock, type Logger, type Server, toError } from "@evenkeel/runtime";
import { Batch } from "./batch.ts";
import { UnreadConnections } from "./client/unread-connections.ts";
import type { Origin, Refusal, Router } from "./destination.ts";
import { type Engine, FlushQueue, type Group } from "./engine.ts";
import type { Head } from "./exchange.ts";
import { StrippedHeaders, type StripOptions } from "./headers/stripped-headers.ts";
import { type Deadlines, defaultDeadlines, defaultLimits, type ForwardLimits } from "./limits.ts";
import { Listener, type ListenerOptions } from "./listener.ts";
import { Tally } from "./tally.ts";
import { Origins } from "./upstream/origins.ts";
import { warmUp, type WarmOptions, type Warmth } from "./warm.ts";
import { Wheel } from "./wheel.ts";

export interface ForwarderOptions extends ListenerOptions {
  readonly router: Router;
  readonly limits?: Partial<ForwardLimits> | undefined;
  readonly deadlines?: Partial<Deadlines> | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricRegistry;
  /** The name in `Via`; default: `evenkeel`. */
  readonly proxy?: string | undefined;
  /** Clients' headers and trailers that never reach an upstream. A route may set headers of these names. */
  readonly strip?: StripOptions | undefined;
  /**
   * Words every refusal, the router's and the forwarder's own: the result is sent instead. `head` is undefined if the
   * request could not be parsed. If it throws, the refusal is sent as it is. Two have no words: a head over the limit
   * in HTTP/2, which is a reset, and connections over `limits.connections`, which are closed.
   */
  readonly word?: ((refusal: Refusal, head: Head | undefined) => Refusal) | undefined;
}

/** Numbers of open resources. Each is 0 when no request is in flight and idle connections are closed. */
export interface Counts {
  readonly exchanges: number;
  readonly tunnels: number;
  readonly clientSockets: number;
  readonly upstreamSockets: number;
  readonly timers: number;
  readonly origins: number;
}

/** Accepts requests on one or more ports and forwards each to the router's destination. */
export class Forwarder implements Server {
  readonly name: string;
  readonly #options: ForwarderOptions;
  readonly #limits: ForwardLimits;
  readonly #deadlines: Deadlines;
  readonly #wheel: Wheel;
  readonly #tally: Tally;
  readonly #origins: Origins;
  readonly #batch = new Batch();
  readonly #unread: UnreadConnections;
  readonly #flush = new FlushQueue();
  readonly #early = { bytes: 0 };
  readonly #groups = new WeakMap<object, Group>();
  readonly #listeners = new Set<Listener>();
  readonly #main: Listener;

  constructor(options: ForwarderOptions) {
    this.name = options.name;
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#deadlines = { ...defaultDeadlines, ...options.deadlines };
    this.#wheel = new Wheel(options.clock);
    this.#unread = new UnreadConnections(this.#wheel);
    this.#tally = new Tally(options.registry, options.clock);
    this.#origins = new Origins({
      limits: this.#limits,
      tally: this.#tally,
      wheel: this.#wheel,
      batch: this.#batch,
      now: () => options.clock.monotonic(),
    });
    this.#main = this.#make(options, options.router);
  }

  /** The port of the first listener, once started. */
  get port(): number {
    return this.#main.port;
  }

  /** Replaces TLS material of the first listener, as `Listener.renew` does for the others. */
  renew(tls: Parameters<Listener["renew"]>[0]): void {
    this.#main.renew(tls);
  }

  async start(): Promise<void> {
    await this.#main.start();
    this.#listeners.add(this.#main);
  }

  /** Opens a further port, with its own router or the forwarder's. `unlisten` closes it. */
  async listen(options: ListenerOptions, router: Router = this.#options.router): Promise<Listener> {
    const listener = this.#make(options, router);
    await listener.start();
    this.#listeners.add(listener);
    return listener;
  }

  /** Closes a port as `drain` closes all. Resolves with the number of exchanges that were cut. */
  async unlisten(listener: Listener, deadline: AbortSignal): Promise<number> {
    this.#listeners.delete(listener);
    return listener.close(deadline);
  }

  async drain(deadline: AbortSignal): Promise<number> {
    const cut = await Promise.all([...this.#listeners].map((listener) => listener.close(deadline)));
    this.#listeners.clear();
    return cut.reduce((sum, count) => sum + count, 0);
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await this.drain(deadline);
    this.#origins.close();
    this.#tally.pour();
  }

  /**
   * Runs requests through a private copy: a forwarder with the same options and its own metrics, and an upstream in
   * this process. The first requests of a new process take several times as long as later ones. Call it before the
   * owner reports ready.
   */
  warm(options?: WarmOptions): Promise<Warmth> {
    const { clock, log } = this.#options;
    const make = (router: Router) =>
      new Forwarder({
        name: "warm-up",
        host: "127.0.0.1",
        port: 0,
        router,
        limits: this.#limits,
        deadlines: this.#deadlines,
        clock,
        log,
        registry: new MetricRegistry(),
      });
    return warmUp(make, clock, options);
  }

  /** Reads connections again that were left unread; see `Exchange.unreadAfter`. */
  readOn(): void {
    this.#unread.read();
  }

  /** Number of exchanges at `origin`, including tunnels. */
  inFlight(origin: Origin): number {
    return this.#origins.inFlight(origin);
  }

  counts(): Counts {
    const { exchange, tunnel, client, upstream } = this.#tally.open;
    return {
      exchanges: exchange,
      tunnels: tunnel,
      clientSockets: client,
      upstreamSockets: upstream,
      timers: this.#wheel.size - this.#origins.size,
      origins: this.#origins.size,
    };
  }

  #word(refusal: Refusal, head: Head | undefined): Refusal {
    const { word, log } = this.#options;
    if (!word) return refusal;
    try {
      return word(refusal, head);
    } catch (error) {
      log.error({ error: toError(error) }, "the text of a refusal could not be made; the client gets the default one");
      return refusal;
    }
  }

  #make(options: ListenerOptions, router: Router): Listener {
    const { clock, log, proxy, strip } = this.#options;
    const { group: key = {} } = options;
    const group = this.#groups.get(key) ?? { connections: 0, earlyBytes: 0 };
    this.#groups.set(key, group);
    const engine: Engine = {
      listener: options.name,
      inFlight: 0,
      draining: false,
      settled: () => listener.settled(),
      router,
      limits: this.#limits,
      deadlines: this.#deadlines,
      clock,
      log,
      wheel: this.#wheel,
      tally: this.#tally,
      origins: this.#origins,
      proxy: proxy ?? "evenkeel",
      early: this.#early,
      group,
      strip: strip && new StrippedHeaders(strip),
      word: (refusal, head) => this.#word(refusal, head),
      batch: this.#batch,
      unread: this.#unread,
      flush: this.#flush,
    };
    const listener: Listener = new Listener(engine, options);
    return listener;
  }
}
