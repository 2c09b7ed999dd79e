import type { Hold, Listener } from "@evenkeel/forward";
import type { Clock } from "@evenkeel/runtime";
import type { ServiceEndpoint } from "../../observe/endpoints.ts";
import type { GatedService } from "./gated-service.ts";
import type { GateRequest } from "./gate-request.ts";
import type { GatePort } from "./gate-route.ts";
import { Pod } from "./pod.ts";

/**
 * Requests that a pod gets at once when many wait, and after how many milliseconds it gets twice as many if others still do. Where each
 * slot was used several times meanwhile there is no need: more at once would open more connections and make nothing faster.
 */
const SURGE = 32;
const SURGE_STEP = 250;
const BRISK = 4;
/** More than ever come, and yet a number, so that the pod with the fewest requests can be told. */
const UNLIMITED = 1_000_000_000;

export interface PortQueueOptions {
  /** The name of its line in `hold`, which no other way has. */
  readonly key: string;
  readonly hold: Hold<GateRequest, Pod>;
  readonly clock: Clock;
}

/**
 * The way of requests to one port of a Service: its line, and the pods that take from it. Without a hard cap a pod gets few requests at
 * once while many wait, so that connections are used again, then ever more, so that long streams do not keep the others waiting.
 */
export class PortQueue {
  readonly service: GatedService;
  readonly key: string;
  port: GatePort;
  listener: Listener | undefined;
  readonly #hold: Hold<GateRequest, Pod>;
  readonly #clock: Clock;
  readonly #pods = new Map<string, Pod>();
  /** What a pod gets at once while others wait; 0 while nobody does. */
  #surge = 0;
  /** Waits that ended since the last step. */
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

  /** These endpoints serve: requests go to them, and to no other. */
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

  /** A connection to `pod` was refused: nothing goes there until one is made. */
  refused(pod: Pod): void {
    if (this.#pods.get(idOf(pod.http1)) !== pod || pod.reach.lost) return;
    this.#hold.withdraw(this.key, pod);
    pod.reach.refused();
  }

  /** Somebody waits no more. With nobody waiting there is no cap. */
  eased(): void {
    if (this.#surge === 0) return;
    this.#ended += 1;
    if (this.waiting > 0) return;
    this.#endSurge();
    this.#offer();
  }

  /** Where a pod is reached itself, for a request that came back from the Service's own address. */
  direct(): { readonly host: string; readonly port: number } | undefined {
    const { serving } = this.service;
    const endpoint = serving[this.#next++ % Math.max(1, serving.length)];
    const port = endpoint?.ports[this.port.name];
    return endpoint && port !== undefined ? { host: endpoint.address, port } : undefined;
  }

  close(): void {
    this.#endSurge();
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
      const place = dialled === null ? { host: address, port } : { host: dialled, port: this.port.port };
      const known = wanted.get(idOf(place));
      if (known) known.weight += dialled === null ? 0 : 1;
      else wanted.set(idOf(place), { ...place, weight: 1 });
    }
    return wanted;
  }

  readonly #offer = (): void => {
    for (const pod of this.#pods.values()) {
      // Asked each time: the first pod may have taken all that waited.
      if (!pod.reach.lost) this.#hold.offer(this.key, pod, this.#cap() * pod.weight);
    }
  };

  #cap(): number {
    const hard = this.service.hold.concurrencyPerPod;
    if (hard !== null) return hard;
    if (this.#surge === 0 && this.waiting > 0) this.#setSurge(SURGE);
    return this.#surge === 0 ? UNLIMITED : this.#surge;
  }

  #setSurge(surge: number): void {
    this.#surge = Math.min(UNLIMITED, surge);
    this.#ended = 0;
    this.#cancel = this.#clock.schedule(SURGE_STEP, () => this.#step());
  }

  #step(): void {
    let taking = 0;
    for (const { reach, weight } of this.#pods.values()) if (!reach.lost) taking += weight;
    if (taking === 0 || this.waiting === 0) this.#endSurge();
    else this.#setSurge(this.#ended >= BRISK * this.#surge * taking ? this.#surge : this.#surge * 2);
    this.#offer();
  }

  #endSurge(): void {
    this.#surge = 0;
    this.#cancel?.();
    this.#cancel = undefined;
  }
}

function idOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host} ${port}`;
}
