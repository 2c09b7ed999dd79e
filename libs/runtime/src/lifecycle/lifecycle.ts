import { type Clock, sleep } from "../clock.ts";
import { aborted, withDeadline } from "../deadline.ts";
import { CodedError, explain } from "../error.ts";
import { ComponentDied, DeadlineExceeded, SecondSignal, StartFailed, StopFailed, Unhandled } from "../errors.ts";
import type { Host } from "../host.ts";
import type { Logger } from "../log.ts";
import type { Component, Server } from "./component.ts";
import { LeaderLoops } from "./leadership.ts";

type Phase = "starting" | "running" | "stopping";

/** Why the process stops: someone asked, or something broke. */
type Cause = { readonly signal: NodeJS.Signals } | { readonly error: CodedError };

const signalNumbers: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 2, SIGTERM: 15 };

/** How long each of the rest may take to stop once the servers are closed, in milliseconds. */
const STOP_TIME = 2000;

/** How long what was told to give up has for doing so, in milliseconds. */
const CUT_TIME = 1000;

interface LifecycleOptions {
  readonly host: Host;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds between "not ready" and "no new requests", in which load balancers learn of it. */
  readonly shutdownDelay: number;
  /** Milliseconds that requests in flight have after that. */
  readonly drainTimeout: number;
}

/**
 * Starts components in order and stops them in reverse:
 *
 *     SIGTERM ─▶ not ready ─▶ leader loops end, lease released ─▶ delay
 *             ─▶ servers close and drain ─▶ the rest stops ─▶ exit 0
 *
 * A second signal exits at once with 128 + its number. A component's death or an unhandled error takes the same way
 * without the delay and exits 1. With the default settings the whole way fits into Kubernetes' grace period of 30 s.
 */
export class Lifecycle {
  readonly leaders = new LeaderLoops();
  readonly #options: LifecycleOptions;
  readonly #components: Component[] = [];
  readonly #servers = new Set<Server>();
  readonly #stopping = new AbortController();
  readonly #cause = Promise.withResolvers<Cause>();
  #phase: Phase = "starting";
  #ending = false;
  #clean = true;

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  get phase(): Phase {
    return this.#phase;
  }

  use<C extends Component>(component: C): C {
    this.#components.push(component);
    return component;
  }

  /** Adds a component that takes requests: it is drained before anything else but the leader loops stops. */
  open<S extends Server>(server: S): S {
    this.#servers.add(server);
    return this.use(server);
  }

  /** Each component's reason for not being ready; empty when the process may get traffic. */
  unready(): readonly { readonly name: string; readonly reason: string }[] {
    const reasons: { name: string; reason: string }[] = [];
    if (this.#phase !== "running") reasons.push({ name: "lifecycle", reason: this.#phase });
    for (const component of this.#components) {
      const reason = component.unready?.();
      if (reason !== undefined) reasons.push({ name: component.name, reason });
    }
    return reasons;
  }

  /** Runs until something ends it. Resolves with the exit code. */
  async run(): Promise<number> {
    const unlisten = this.#listen();
    const started: Component[] = [];
    const starting = this.#start(started);
    const cause = await this.#cause.promise;
    this.#phase = "stopping";
    this.#stopping.abort();
    if ("error" in cause) this.#options.log.fatal({ error: cause.error, code: cause.error.code }, explain(cause.error));
    else this.#say("not ready", `${cause.signal}: stopping`);
    await starting;
    await this.#stop(started, "signal" in cause);
    unlisten();
    return "error" in cause || !this.#clean ? 1 : 0;
  }

  /** The first cause decides how the process ends; a later error is still owed its line. */
  #end(cause: Cause): void {
    if (!this.#ending) this.#cause.resolve(cause);
    else if ("error" in cause) this.#unclean(cause.error);
    this.#ending = true;
  }

  async #start(started: Component[]): Promise<void> {
    const { signal } = this.#stopping;
    for (const component of [...this.#components, this.leaders]) {
      if (this.#ending) return;
      const { name } = component;
      const end = (cause: unknown, otherwise: CodedError) =>
        this.#end({ error: cause instanceof CodedError ? cause : otherwise });
      started.push(component);
      try {
        const fail = (cause: unknown) => end(cause, new ComponentDied({ component: name }, { cause }));
        await Promise.race([component.start?.({ signal, fail }), aborted(signal)]);
      } catch (cause) {
        if (!signal.aborted) end(cause, new StartFailed({ component: name }, { cause }));
        return;
      }
    }
    if (this.#ending) return;
    this.#phase = "running";
    const ports = this.#components.filter((component) => "port" in component).map(({ name, port }) => [name, port]);
    this.#options.log.info({ phase: "ready", ports: Object.fromEntries(ports) as unknown }, "ready");
  }

  /** One budget for the whole way: what the leader loops take longer is taken off the delay and the drain. */
  async #stop(started: readonly Component[], delayed: boolean): Promise<void> {
    const { clock, shutdownDelay, drainTimeout } = this.#options;
    const began = clock.monotonic();
    const left = (budget: number) => Math.max(0, began + budget - clock.monotonic());
    const isServer = (component: Component): component is Server => this.#servers.has(component as Server);
    const servers = started.filter(isServer);
    const delay = delayed && servers.length > 0 ? shutdownDelay : 0;
    if (started.includes(this.leaders) && (await this.#stopOne(this.leaders, delay + drainTimeout))) {
      this.#say("leader loops stopped", "leader loops stopped and the lease is released");
    }
    if (delayed && servers.length > 0) {
      this.#say(
        "delay",
        `accepting requests for another ${Math.round(left(delay))} ms, until load balancers stop sending them`,
      );
      await sleep(clock, left(delay));
    }
    const drain = left(delay + drainTimeout);
    if (servers.length > 0) this.#say("drain", `no new requests; requests in flight have ${Math.round(drain)} ms`);
    await Promise.all(servers.map((server) => this.#drain(server, drain)));
    for (const component of started.toReversed()) {
      if (component !== this.leaders) await this.#stopOne(component, STOP_TIME);
    }
    this.#say("stopped", "stopped");
  }

  async #drain(server: Server, milliseconds: number): Promise<void> {
    const { log } = this.#options;
    const what = `draining ${server.name}`;
    try {
      const cut = await this.#within(milliseconds, what, (deadline) => server.drain(deadline));
      if (cut > 0) log.warn({ component: server.name, cut }, `${cut} requests did not finish in time and were aborted`);
    } catch (error) {
      this.#unclean(new StopFailed({ component: server.name }, { cause: error }));
    }
  }

  /** Whether it stopped cleanly. */
  async #stopOne(component: Component, milliseconds: number): Promise<boolean> {
    const what = `stopping ${component.name}`;
    try {
      await this.#within(milliseconds, what, async (deadline) => component.stop?.(deadline));
      return true;
    } catch (error) {
      this.#unclean(new StopFailed({ component: component.name }, { cause: error }));
      return false;
    }
  }

  /** Tells `work` to give up after so many milliseconds, and goes on without it when it does not. */
  async #within<T>(milliseconds: number, what: string, work: (deadline: AbortSignal) => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const deadline = new AbortController();
    const cancel = clock.schedule(milliseconds, () => deadline.abort(new DeadlineExceeded({ what, milliseconds })));
    try {
      return await withDeadline({ clock, milliseconds: milliseconds + CUT_TIME, what }, () => work(deadline.signal));
    } finally {
      cancel();
    }
  }

  #unclean(error: CodedError): void {
    this.#clean = false;
    this.#options.log.error({ error, code: error.code }, explain(error));
  }

  #listen(): () => void {
    const { host, log } = this.#options;
    let signalled = false;
    const onSignal = (signal: NodeJS.Signals) => {
      const isFirst = !signalled;
      signalled = true;
      if (isFirst) {
        this.#end({ signal });
        return;
      }
      const error = new SecondSignal({ signal });
      log.fatal({ error, code: error.code }, error.message);
      host.exit(128 + (signalNumbers[signal] ?? 0));
    };
    const onException = (thrown: unknown) =>
      this.#end({ error: new Unhandled({ origin: "exception" }, { cause: thrown }) });
    const onRejection = (thrown: unknown) =>
      this.#end({ error: new Unhandled({ origin: "rejection" }, { cause: thrown }) });
    host.on("SIGTERM", onSignal).on("SIGINT", onSignal);
    host.on("uncaughtException", onException).on("unhandledRejection", onRejection);
    return () => {
      host.off("SIGTERM", onSignal).off("SIGINT", onSignal);
      host.off("uncaughtException", onException).off("unhandledRejection", onRejection);
    };
  }

  #say(phase: string, message: string): void {
    this.#options.log.info({ phase }, message);
  }
}
