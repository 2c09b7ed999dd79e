import type { Listener, Router } from "@evenkeel/forward";
import type { Metrics } from "@evenkeel/metrics";
import type { Clock, Logger } from "@evenkeel/runtime";
import type { metrics } from "../../metrics.ts";
import { PATH_PROBE_START } from "./path-probe-answer.ts";
import type { GateForwarder } from "./gate-forwarder.ts";
import type { GatedService } from "./gated-service.ts";
import type { PortQueue } from "./port-queue.ts";

/** Milliseconds for which a port stays open that a Service no longer has: nodes may still send requests there. */
const MOVED = 5_000;
/** Milliseconds for which requests in flight may delay the close of a port. */
const CLOSE_WITHIN = 30_000;
/**
 * Milliseconds before the first retry of a port that could not be opened. The time doubles with each retry, up to the
 * second value.
 */
const FIRST_WAIT = 500;
const LONGEST_WAIT = 30_000;

/** Which connections are not parsed, by `hold.protocol`. With `http`, they are counted and closed. */
const OPAQUE = { auto: "unlessHttp", http: "unlessHttp", tcp: "all" } as const;

export interface ServicePortsOptions {
  readonly forwarder: GateForwarder;
  readonly host: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics<typeof metrics>, "unboundPorts">;
  /** The router for requests at the port of a queue. */
  readonly router: (queue: PortQueue) => Router;
  /** Called when the number of open ports of a Service changes. */
  readonly changed: (service: GatedService) => void;
}

/** The listeners for the ports of Services. A port that another process uses is opened when it is free. */
export class ServicePorts {
  readonly #options: ServicePortsOptions;
  /** Cancels the next retry, by Service. */
  readonly #tries = new Map<GatedService, () => void>();
  /** Ports that were moved a moment ago, by listener, with their queue and what cancels their close. */
  readonly #moved = new Map<Listener, { readonly queue: PortQueue; readonly cancel: () => void }>();

  constructor(options: ServicePortsOptions) {
    this.#options = options;
  }

  /** Opens and moves the ports of the Service's queues. Resolves when they are open, or cannot be opened. */
  open(service: GatedService): Promise<void> {
    return this.#open(service, FIRST_WAIT);
  }

  /** Cancels the retries of a Service. */
  cancel(service: GatedService): void {
    this.#tries.get(service)?.();
    this.#tries.delete(service);
  }

  /** Closes the port of a queue after its requests in flight have ended. */
  async close(queue: PortQueue): Promise<void> {
    const { listener } = queue;
    queue.listener = undefined;
    const moved = [...this.#moved].filter(([, { queue: of }]) => of === queue).map(([one]) => one);
    for (const one of moved) this.#keep(one);
    await Promise.all([...moved, ...(listener ? [listener] : [])].map((one) => this.#unlisten(one)));
  }

  stop(): void {
    for (const cancel of this.#tries.values()) cancel();
    this.#tries.clear();
    for (const one of [...this.#moved.keys()]) this.#keep(one);
  }

  async #open(service: GatedService, wait: number): Promise<void> {
    const { forwarder, clock, metrics: table, changed } = this.#options;
    this.cancel(service);
    for (const queue of service.queues.values()) await this.#listen(queue);
    if (service.removed || forwarder.isDraining()) return;
    const { unbound, knownUnbound } = service;
    service.knownUnbound = unbound;
    table.unboundPorts.set(service.labels, unbound);
    if (unbound > 0) {
      const again = () => {
        this.#tries.delete(service);
        service.portChanges = service.portChanges.then(() => this.#open(service, Math.min(LONGEST_WAIT, wait * 2)));
      };
      this.#tries.set(service, clock.schedule(wait, again));
    }
    if (unbound !== knownUnbound) changed(service);
  }

  async #listen(queue: PortQueue): Promise<void> {
    const { service, port, listener } = queue;
    const { forwarder, host, log, router } = this.#options;
    if (service.removed || forwarder.isDraining() || listener?.port === port.listen) return;
    queue.listener = undefined;
    if (listener) this.#closeLater(listener, queue);
    if (port.listen === null) return;
    const former = [...this.#moved].find(([one, { queue: of }]) => of === queue && one.port === port.listen)?.[0];
    if (former) {
      this.#keep(former);
      queue.listener = former;
      return;
    }
    try {
      const name = `${service.key}:${port.port}`;
      const opened = await forwarder.listen(
        {
          name,
          host,
          port: port.listen,
          group: service,
          opaque: () => OPAQUE[service.hold.protocol],
          httpStart: PATH_PROBE_START,
        },
        router(queue),
      );
      if (forwarder.isDraining()) await this.#unlisten(opened);
      else queue.listener = opened;
    } catch (error) {
      log.warn({ error, service: service.key, port: port.listen }, "could not listen on a port of a Service; retrying");
    }
  }

  #closeLater(listener: Listener, queue: PortQueue): void {
    const cancel = this.#options.clock.schedule(MOVED, () => {
      this.#moved.delete(listener);
      void this.#unlisten(listener);
    });
    this.#moved.set(listener, { queue, cancel });
  }

  /** Cancels the close of a port. */
  #keep(listener: Listener): void {
    this.#moved.get(listener)?.cancel();
    this.#moved.delete(listener);
  }

  async #unlisten(listener: Listener): Promise<void> {
    const { forwarder, clock, log } = this.#options;
    const bound = new AbortController();
    const cancel = clock.schedule(CLOSE_WITHIN, () => bound.abort());
    const cut = await forwarder.unlisten(listener, bound.signal);
    cancel();
    if (cut > 0) log.warn({ listener: listener.name, cut }, "requests were aborted when their port closed");
  }
}
