import { keyOf, type KubeObject, nameOfKey, TimeSlice } from "@evenkeel/kube";
import { type Clock, explain } from "@evenkeel/runtime";
import type { KubernetesBlock, KubernetesRole } from "../discovery/discovery-block.ts";
import type { GroupSink, TargetGroup } from "../target-group.ts";
import { controllerKey, type FollowedObject, type FollowedType } from "./followed-types.ts";
import { endpointSliceGroup } from "./endpoint-slice.ts";
import { endpointsGroup } from "./endpoints.ts";
import { ingressGroup } from "./ingress.ts";
import { nodeGroup } from "./node.ts";
import { serviceGroup } from "./service.ts";
import type { Feed, KubernetesFeeds } from "./kubernetes-feeds.ts";
import type { MetaNames } from "./meta-labels.ts";
import { podGroup } from "./pod.ts";
import type { Surroundings } from "./surroundings.ts";

/** What a role makes groups of. */
interface Role {
  readonly main: FollowedType;
  /** What a group's source begins with. */
  readonly source: string;
  readonly group: (object: never, around: Surroundings) => TargetGroup;
  /** Whether groups have labels of Services and pods besides those of the object. */
  readonly hasBackends?: boolean;
}

const roles: Readonly<Record<KubernetesRole, Role>> = {
  pod: { main: "pods", source: "pod", group: podGroup },
  service: { main: "services", source: "svc", group: serviceGroup },
  endpoints: { main: "endpoints", source: "endpoints", group: endpointsGroup, hasBackends: true },
  endpointslice: { main: "endpointSlices", source: "endpointslice", group: endpointSliceGroup, hasBackends: true },
  node: { main: "nodes", source: "node", group: nodeGroup },
  ingress: { main: "ingresses", source: "ingress", group: ingressGroup },
};

export interface KubernetesParts {
  readonly feeds: KubernetesFeeds;
  readonly names: MetaNames;
  readonly clock: Clock;
}

/** Milliseconds of work before other events get their turn. */
const SLICE = 8;

/**
 * Keeps the groups of one block equal to what the API server has. A change of an object costs the groups that use it;
 * changes of one moment are told together.
 */
export class KubernetesDiscovery {
  readonly #role: Role;
  readonly #sink: GroupSink;
  readonly #parts: KubernetesParts;
  readonly #feeds: Partial<{ readonly [Type in FollowedType]: Feed<FollowedObject<Type>> }>;
  readonly #main: Feed;
  readonly #around: Surroundings;
  readonly #dirty = new Set<string>();
  /** Objects of which no group could be made, and why. */
  readonly #malformed = new Map<string, string>();
  readonly #stopping = new AbortController();
  readonly #unsubscribe: readonly (() => void)[];
  #isSynced = false;
  /** Whether the sink has had a group of every object that was there at first. */
  #hasAnswered = false;
  #isFlushing = false;

  constructor(block: KubernetesBlock, sink: GroupSink, parts: KubernetesParts) {
    this.#role = roles[block.role];
    this.#sink = sink;
    this.#parts = parts;
    const { attach, namespaces, selectors } = block;
    const hasPods = block.role === "pod" || this.#role.hasBackends === true;
    const follow = <Type extends FollowedType>(type: Type, isWanted: boolean | undefined, role?: KubernetesRole) =>
      isWanted === true
        ? parts.feeds.follow(type, { namespaces, selector: role && selectors[role] }, () => this.#tellHealth())
        : undefined;
    const main = follow(this.#role.main, true, block.role) as Feed;
    const services = follow("services", this.#role.hasBackends, "service");
    const pods = follow("pods", this.#role.hasBackends, "pod");
    const nodes = follow("nodes", attach.node && hasPods, "node");
    const namespaceFeed = follow("namespaces", attach.namespace && block.role !== "node");
    const replicaSets = follow("replicaSets", attach.deployment && hasPods);
    const jobs = follow("jobs", attach.cronjob && hasPods);
    this.#main = main;
    this.#feeds = Object.fromEntries(
      Object.entries({ services, pods, nodes, namespaces: namespaceFeed, replicaSets, jobs }).filter(
        ([, feed]) => feed !== undefined,
      ),
    );
    this.#around = {
      names: parts.names,
      service: (key) => services?.store.get(key),
      pod: (key) => pods?.store.get(key),
      node: nodes && ((name) => nodes.store.get(name)),
      namespace: namespaceFeed && ((name) => namespaceFeed.store.get(name)),
      replicaSet: replicaSets && ((key) => replicaSets.store.get(key)),
      job: jobs && ((key) => jobs.store.get(key)),
      attachJob: attach.job,
    };
    this.#unsubscribe = [
      main.store.subscribe(({ key }) => this.#mark([key])),
      ...Object.entries(this.#feeds).map(([type, { store }]) =>
        store.subscribe(({ key }) => this.#mark(this.#usersOf(type as FollowedType, key))),
      ),
    ];
    void this.#whenSynced();
  }

  stop(): void {
    this.#stopping.abort();
    for (const end of this.#unsubscribe) end();
    for (const feed of this.#allFeeds) feed.release();
  }

  get #allFeeds(): readonly Feed[] {
    return [this.#main, ...Object.values(this.#feeds)];
  }

  async #whenSynced(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      await Promise.all(this.#allFeeds.map(({ store }) => store.whenSynced(signal)));
    } catch {
      return; // stopped
    }
    this.#isSynced = true;
    // A store says that it has synced before it has told of every object.
    for (const object of this.#main.store.values()) this.#dirty.add(keyOf(object));
    await this.#flush();
  }

  /** The objects whose groups have something of the changed one. */
  *#usersOf(type: FollowedType, key: string): Iterable<string> {
    const { store } = this.#main;
    const by = function* (index: "namespace" | "node" | "controller" | "service" | "pod", value: string) {
      for (const object of store.by(index, value)) yield keyOf(object);
    };
    switch (type) {
      case "services":
        return yield* by("service", key);
      case "pods":
        return yield* by("pod", key);
      case "nodes":
        return yield* by("node", key);
      case "namespaces":
        return yield* by("namespace", key);
      case "replicaSets":
      case "jobs": {
        const { namespace, name } = nameOfKey(key);
        const controller = controllerKey(type === "jobs" ? "Job" : "ReplicaSet", namespace, name);
        if (!this.#feeds.pods) return yield* by("controller", controller);
        for (const pod of this.#feeds.pods.store.by("controller", controller)) yield* by("pod", keyOf(pod));
      }
    }
  }

  #mark(keys: Iterable<string>): void {
    for (const key of keys) this.#dirty.add(key);
    if (this.#isSynced && !this.#isFlushing && this.#dirty.size > 0) {
      this.#isFlushing = true;
      setImmediate(() => void this.#flush());
    }
  }

  async #flush(): Promise<void> {
    this.#isFlushing = true;
    const slice = new TimeSlice(this.#parts.clock, SLICE);
    const ended = () => this.#stopping.signal.aborted;
    while (this.#dirty.size > 0 && !ended()) {
      const groups: TargetGroup[] = [];
      for (const key of this.#dirty) {
        this.#dirty.delete(key);
        groups.push(this.#groupOf(key));
        if (slice.spent) break;
      }
      this.#sink.update(groups);
      if (slice.spent) await slice.rest();
    }
    this.#isFlushing = false;
    if (ended()) return;
    this.#hasAnswered = true;
    this.#tellHealth();
  }

  #groupOf(key: string): TargetGroup {
    const object: KubeObject | undefined = this.#main.store.get(key);
    this.#malformed.delete(key);
    try {
      if (object) return this.#role.group(object as never, this.#around);
    } catch (error) {
      // An object that lacks a field which API servers demand must not stop the others.
      this.#malformed.set(key, explain(error));
    }
    return { source: `${this.#role.source}/${key}`, labels: new Map(), targets: [] };
  }

  #tellHealth(): void {
    const [malformed] = this.#malformed;
    const fault =
      this.#allFeeds.map((feed) => feed.fault()).find((each) => each !== undefined) ??
      (malformed && { message: `${this.#role.source}/${malformed.join(": ")}`, goodAt: this.#parts.clock.now() });
    this.#sink.health({
      answered: this.#hasAnswered,
      ...(fault === undefined
        ? this.#hasAnswered && { goodAt: this.#parts.clock.now() }
        : { fault: fault.message, ...(fault.goodAt !== undefined && { goodAt: fault.goodAt }) }),
    });
  }
}
