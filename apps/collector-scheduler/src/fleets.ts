import { parseCollectorLoadBalancer } from "@evenkeel/api";
import { keyOf, type ReadStore } from "@evenkeel/kube";
import type { Clock, Component, Logger } from "@evenkeel/runtime";
import type { State } from "@evenkeel/state";
import { AssignmentRecords } from "./act/assignment-records.ts";
import type { StoredCollectorLoadBalancer } from "./collector-load-balancer-resource.ts";
import { Fleet } from "./fleet.ts";
import type { Catalogue } from "./observe/catalogue.ts";
import type { DiscoveryLimits } from "./observe/discovery/discovery-limits.ts";
import type { AllocatorRequest } from "./serve/request-path.ts";
import type { AllocatorAnswer } from "./serve/target-allocator.ts";

export interface FleetsOptions {
  readonly store: Pick<ReadStore<StoredCollectorLoadBalancer>, "subscribe" | "hasSynced">;
  readonly state: Pick<State, "records" | "edges" | "available">;
  readonly catalogue: () => Catalogue;
  readonly limits: Omit<DiscoveryLimits, "namespace">;
  /** Something that a decision depends on has changed. */
  readonly changed: (key: string) => void;
  /** Whether pods of an object's collectors are of an older template than their StatefulSet. */
  readonly isRollingOut: (namespace: string, name: string) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Kept {
  readonly fleet: Fleet;
  readonly generation: number;
  readonly end: () => void;
}

/** The fleets of all CollectorLoadBalancers. Every replica has them, and answers collectors from them. */
export class Fleets implements Component {
  readonly name = "fleets";
  readonly #options: FleetsOptions;
  readonly #fleets = new Map<string, Kept>();
  #unsubscribe: () => void = () => undefined;

  constructor(options: FleetsOptions) {
    this.#options = options;
  }

  start(): void {
    this.#unsubscribe = this.#options.store.subscribe((change) => {
      if (change.type === "deleted") this.#drop(change.key);
      else this.#take(change.object);
    });
  }

  stop(): void {
    this.#unsubscribe();
    for (const key of [...this.#fleets.keys()]) this.#drop(key);
  }

  /** By `namespace/name`. */
  get(key: string): Fleet | undefined {
    return this.#fleets.get(key)?.fleet;
  }

  values(): readonly Fleet[] {
    return Array.from(this.#fleets.values(), ({ fleet }) => fleet);
  }

  /** This process no longer leads: what it knew as leader may be out of date. */
  endTerm(): void {
    for (const { records } of this.values()) records.endTerm();
  }

  /** Answers a collector. The bare paths are those of the only CollectorLoadBalancer. */
  answer(request: AllocatorRequest, isPoll: boolean): AllocatorAnswer {
    const { fleet: key } = request;
    if (!this.#options.store.hasSynced) {
      return { status: 503, sentence: "The CollectorLoadBalancers are not known yet: the API server has not answered" };
    }
    if (key !== undefined) {
      const sentence = `There is no CollectorLoadBalancer ${key}`;
      return this.get(key)?.answer(request, isPoll) ?? { status: 404, sentence };
    }
    if (this.#fleets.size === 1) {
      for (const { fleet } of this.#fleets.values()) return fleet.answer(request, isPoll);
    }
    const sentence = `There are ${this.#fleets.size} CollectorLoadBalancers: ask below /collectors/{namespace}/{name}`;
    return { status: 404, sentence };
  }

  #take(object: StoredCollectorLoadBalancer): void {
    const key = keyOf(object);
    const { uid = "", generation = 0 } = object.metadata;
    const known = this.#fleets.get(key);
    if (known?.fleet.uid === uid && known.generation === generation) return;
    if (known !== undefined && known.fleet.uid !== uid) this.#drop(key);
    const kept = this.#fleets.get(key) ?? this.#begin(object);
    this.#fleets.set(key, { ...kept, generation });
    const parsed = parseCollectorLoadBalancer(object);
    if (parsed.ok) kept.fleet.configure(parsed.value.spec);
    this.#options.changed(key);
  }

  #begin({ metadata: { namespace = "", name = "", uid = "" } }: StoredCollectorLoadBalancer): Kept {
    const { catalogue, limits, clock, state, log, changed, isRollingOut } = this.#options;
    const records = new AssignmentRecords({ object: uid, state, clock, log });
    const about = { namespace, name, uid, catalogue: catalogue(), records, limits };
    const fleet = new Fleet({
      ...about,
      now: () => clock.now(),
      isRollingOut: () => isRollingOut(namespace, name),
    });
    const unfollow = records.follow((assignments) => fleet.assign(assignments));
    fleet.catalogue.onChange(() => changed(`${namespace}/${name}`));
    const end = () => {
      unfollow();
      fleet.stop();
    };
    return { fleet, generation: -1, end };
  }

  #drop(key: string): void {
    this.#fleets.get(key)?.end();
    this.#fleets.delete(key);
  }
}
