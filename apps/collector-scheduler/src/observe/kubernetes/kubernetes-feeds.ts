import * as kube from "@evenkeel/kube";
import type { Metrics } from "@evenkeel/metrics";
import { type Clock, explain, type Logger } from "@evenkeel/runtime";
import type { ObjectSelector } from "../discovery/discovery-block.ts";
import { followed, type FollowedObject, type FollowedType, type ObjectIndex } from "./followed-types.ts";

export interface KubernetesFeedsParts {
  readonly kube: Pick<kube.KubeClient, "resource">;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics?: Metrics<typeof kube.reflectorMetrics> | undefined;
  readonly timing?: Partial<kube.ReflectorTiming>;
}

/** Why a feed may be out of date, and since when. */
export interface FeedFault {
  readonly message: string;
  /** When the API server last answered well, in milliseconds; undefined if it never did. */
  readonly goodAt: number | undefined;
}

/** The objects of one type that a block needs, for as long as it needs them. */
export interface Feed<T extends kube.KubeObject = kube.KubeObject> {
  readonly store: kube.ReadStore<T, ObjectIndex>;
  fault(): FeedFault | undefined;
  release(): void;
}

interface Followed {
  readonly store: kube.Store<kube.KubeObject, ObjectIndex>;
  readonly reflector: kube.Reflector<kube.KubeObject>;
  users: number;
  fault: FeedFault | undefined;
  /** Of the users; each is told when the fault comes, changes or goes. */
  readonly listeners: Set<() => void>;
}

/**
 * Follows objects of the API server for all jobs of all CollectorLoadBalancers: one watch for each type, namespace and
 * selector that somebody uses, however many use it.
 */
export class KubernetesFeeds {
  readonly #parts: KubernetesFeedsParts;
  readonly #followed = new Map<string, Followed>();
  #stopping: Promise<void>[] = [];

  constructor(parts: KubernetesFeedsParts) {
    this.#parts = parts;
  }

  /** Watches that are open or being opened. */
  get watches(): number {
    return this.#followed.size;
  }

  /**
   * Follows a type in the named namespaces, or in all of them if none is named. `onFault` is told when `fault()`
   * changes.
   */
  follow<Type extends FollowedType>(
    type: Type,
    {
      namespaces,
      selector = {},
    }: { readonly namespaces: readonly string[]; readonly selector?: ObjectSelector | undefined },
    onFault: () => void,
  ): Feed<FollowedObject<Type>> {
    const isLimited = followed[type].type.namespaced && namespaces.length > 0;
    const scopes: readonly (string | undefined)[] = isLimited ? namespaces : [undefined];
    const used = scopes.map((namespace) => this.#use(type, namespace, selector));
    for (const { each } of used) each.listeners.add(onFault);
    return {
      store: kube.joinStores(used.map(({ each }) => each.store)) as kube.ReadStore<FollowedObject<Type>, ObjectIndex>,
      fault: () => used.find(({ each }) => each.fault !== undefined)?.each.fault,
      release: () => {
        for (const { key, each } of used) {
          each.listeners.delete(onFault);
          this.#release(key, each);
        }
      },
    };
  }

  /** Resolves when no watch runs any more. */
  async stop(): Promise<void> {
    for (const [key, each] of this.#followed) this.#end(key, each);
    await Promise.all(this.#stopping);
  }

  #use(
    type: FollowedType,
    namespace: string | undefined,
    { label, field }: ObjectSelector,
  ): { key: string; each: Followed } {
    const key = JSON.stringify([type, namespace ?? null, label ?? null, field ?? null]);
    const each =
      this.#followed.get(key) ?? this.#start(type, { namespace, labelSelector: label, fieldSelector: field });
    this.#followed.set(key, each);
    each.users += 1;
    return { key, each };
  }

  #start(name: FollowedType, selection: kube.Selection): Followed {
    const { kube: client, clock, random, log, metrics, timing = {} } = this.#parts;
    const { type, keep, indexes } = followed[name];
    const store = new kube.Store<kube.KubeObject, ObjectIndex>({ log, transform: keep, indexes });
    const listeners = new Set<() => void>();
    const reflector = new kube.Reflector<kube.KubeObject>({
      ...{ name: reflectorName(type.plural, selection), resource: client.resource(type), store, selection },
      ...{ clock, random, log, metrics, timing },
      onFault: (error) => {
        // The time of the last good answer is that before the first failure.
        const staleness = reflector.staleness();
        const goodAt = staleness === undefined ? undefined : clock.now() - staleness;
        each.fault = error === undefined ? undefined : { message: explain(error), goodAt };
        for (const listener of listeners) listener();
      },
    });
    const each: Followed = { store, reflector, users: 0, fault: undefined, listeners };
    reflector.start();
    return each;
  }

  #release(key: string, each: Followed): void {
    each.users -= 1;
    if (each.users === 0) this.#end(key, each);
  }

  #end(key: string, { reflector }: Followed): void {
    this.#followed.delete(key);
    const stopped = reflector.stop();
    this.#stopping.push(stopped);
    void stopped.finally(() => (this.#stopping = this.#stopping.filter((other) => other !== stopped)));
  }
}

/** Without the selector, which a CollectorLoadBalancer's author chooses and a metric's label must not hold. */
function reflectorName(plural: string, { namespace, labelSelector, fieldSelector }: kube.Selection): string {
  const where = namespace === undefined ? "" : ` in ${namespace}`;
  const isSelected = labelSelector !== undefined || fieldSelector !== undefined;
  return `discovered ${plural}${where}${isSelected ? ", selected" : ""}`;
}
