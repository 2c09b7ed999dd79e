import type { Hold, Listener } from "@evenkeel/forward";
import type { Clock } from "@evenkeel/runtime";
import type { ServiceEndpoint } from "../../observe/endpoints.ts";
import type { GatedService } from "./gated-service.ts";
import type { GateRequest } from "./gate-request.ts";
import type { GatePort } from "./gate-route.ts";
import { Pod } from "./pod.ts";

/**
 * Concurrent requests per pod while many wait, and the milliseconds after which the number doubles if requests still
 * wait. It does not double if each slot was used several times meanwhile: more connections would make nothing faster.
 */
const FIRST_CONCURRENCY = 32;
const INCREASE_INTERVAL = 250;
const FAST_USES = 4;
/** More than any number of requests, and finite, so that the pod with the fewest requests can be found. */
const UNLIMITED = 1_000_000_000;

export interface PortQueueOptions {
  /** The unique name of the queue in `hold`. */
  readonly key: string;
  readonly hold: Hold<GateRequest, Pod>;
  readonly clock: Clock;
}

/**
 * The queue of one port of a Service, and the pods that take requests from it. Without a hard cap, a pod gets few
 * concurrent requests at first while many wait, so that connections are reused. The number then increases, so that long
 * streams do not block the others.
 */
export class PortQueue {
  readonly service: GatedService;
  readonly key: string;
  port: GatePort;
  listener: Listener | undefined;
  readonly #hold: Hold<GateRequest, Pod>;
  readonly #clock: Clock;
  readonly #pods = new Map<string, Pod>();
  /** Concurrent requests per pod while requests wait; 0 while none waits. */
  #concurrency = 0;
  /** Requests that left the queue since the last increase. */
  #ended = 0;
  #cancel: (() => void) | undefined;
  #next = 0;

  constructor(service: GatedService, port: GatePort, { key, hold, clock }: PortQueueOptions) {
    this.service = service;
    this.port = port;
    this.key = key;
    this.#hold = hold;
    this.#clock = clock;
  }

  get waiting(): number {
    return this.#hold.waiting(this.key).count;
  }

  /** Sets the serving endpoints. Requests go only to these. */
  update(endpoints: readonly ServiceEndpoint[]): void {
    const wanted = this.#wanted(endpoints);
    for (const [id, pod] of this.#pods) {
      if (wanted.has(id)) continue;
      this.#pods.delete(id);
      pod.reach.stop();
      this.#hold.withdraw(this.key, pod);
    }
    for (const [id, { host, port, weight }] of wanted) {
      let pod = this.#pods.get(id);
      if (!pod) this.#pods.set(id, (pod = new Pod(host, port, this.#clock, this.#offer)));
      pod.weight = weight;
    }
    this.#offer();
  }

  /** A connection to `pod` was refused: no request is sent there until a connection succeeds. */
  refused(pod: Pod): void {
    if (this.#pods.get(idOf(pod.http1)) !== pod || pod.reach.isRefusing) return;
    this.#hold.withdraw(this.key, pod);
    pod.reach.refused();
  }

  /** A request left the queue. If the queue is empty, there is no cap. */
  dequeued(): void {
    if (this.#concurrency === 0) return;
    this.#ended += 1;
    if (this.waiting > 0) return;
    this.#resetConcurrency();
    this.#offer();
  }

  /** The address of a pod, for a request that the Service's cluster IP returned to the resolver. */
  direct(): { readonly host: string; readonly port: number } | undefined {
    const { serving } = this.service;
    const endpoint = serving[this.#next++ % Math.max(1, serving.length)];
    const port = endpoint?.ports[this.port.name];
    return endpoint && port !== undefined ? { host: endpoint.address, port } : undefined;
  }

  close(): void {
    this.#resetConcurrency();
    for (const pod of this.#pods.values()) {
      pod.reach.stop();
      this.#hold.withdraw(this.key, pod);
    }
    this.#pods.clear();
  }

  #wanted(endpoints: readonly ServiceEndpoint[]): Map<string, { host: string; port: number; weight: number }> {
    const wanted = new Map<string, { host: string; port: number; weight: number }>();
    const dialled = this.service.dialled;
    for (const { address, ports } of endpoints) {
      const port = ports[this.port.name];
      if (port === undefined) continue;
      const destination = dialled === null ? { host: address, port } : { host: dialled, port: this.port.port };
      const known = wanted.get(idOf(destination));
      if (known) known.weight += dialled === null ? 0 : 1;
      else wanted.set(idOf(destination), { ...destination, weight: 1 });
    }
    return wanted;
  }

  readonly #offer = (): void => {
    for (const pod of this.#pods.values()) {
      // Checked each time, because the first pod may have emptied the queue.
      if (!pod.reach.isRefusing) this.#hold.offer(this.key, pod, this.#cap() * pod.weight);
    }
  };

  #cap(): number {
    const hard = this.service.hold.concurrencyPerPod;
    if (hard !== null) return hard;
    if (this.#concurrency === 0 && this.waiting > 0) this.#setConcurrency(FIRST_CONCURRENCY);
    return this.#concurrency === 0 ? UNLIMITED : this.#concurrency;
  }

  #setConcurrency(concurrency: number): void {
    this.#concurrency = Math.min(UNLIMITED, concurrency);
    this.#ended = 0;
    this.#cancel = this.#clock.schedule(INCREASE_INTERVAL, () => this.#step());
  }

  #step(): void {
    let taking = 0;
    for (const { reach, weight } of this.#pods.values()) if (!reach.isRefusing) taking += weight;
    if (taking === 0 || this.waiting === 0) this.#resetConcurrency();
    else
      this.#setConcurrency(
        this.#ended >= FAST_USES * this.#concurrency * taking ? this.#concurrency : this.#concurrency * 2,
      );
    this.#offer();
  }

  #resetConcurrency(): void {
    this.#concurrency = 0;
    this.#cancel?.();
    this.#cancel = undefined;
  }
}

function idOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host} ${port}`;
}
