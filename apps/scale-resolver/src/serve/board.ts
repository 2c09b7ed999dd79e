import { type Condition, isPaused, nameOfKey, type ReadStore } from "@evenkeel/kube";
import type { ReadBoard } from "@evenkeel/operator";
import type { Clock, Component, DecisionOf } from "@evenkeel/runtime";
import { serviceKey } from "../binding.ts";
import type { Activity, Pods, ServiceSnapshot } from "../decide/snapshot.ts";
import type { Stage, State } from "../decide/state.ts";
import type { stateDecider } from "../decide/state-decider.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import type { ReplicaActivity, SeenActivity } from "../gateway/activities.ts";
import { ServiceHistory, type WakeRecord } from "./service-history.ts";

/** The result of a reconcile. Only the leader has it; other replicas read the status. */
export interface ReconcileResult {
  /** The observation. Its `stage` is the one before. */
  readonly snapshot: ServiceSnapshot;
  readonly decision: Pick<DecisionOf<typeof stateDecider>, "at" | "action" | "reason" | "message" | "dryRun">;
  /** The stage after the decision was carried out. */
  readonly stage: Stage;
  /** Milliseconds from the first held request of the last wake to the first ready pod; null before the first wake. */
  readonly lastWakeMs: number | null;
}

/** What readers see of one service. Null means unknown. */
export interface ServiceView {
  readonly namespace: string;
  readonly service: string;
  /** Name of the ElastiService. */
  readonly elastiService: string;
  /** The workload, such as `Deployment/checkout`; empty if the spec does not name one. */
  readonly target: string;
  readonly state: State | null;
  /** Milliseconds since 1970. */
  readonly since: number | null;
  readonly replicas: number | null;
  readonly pods: Pods | null;
  /** The sum of all replicas of the resolver; null while one has not reported. */
  readonly activity: Activity | null;
  /** The activity of each replica that reported. */
  readonly resolvers: readonly Pick<ReplicaActivity, "replica" | "pending" | "inFlight">[];
  /** A sentence that names the replicas without a report; empty if all report. */
  readonly activityGap: string;
  readonly lastWakeMs: number | null;
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly decidedAt: number | null;
  readonly dryRun: boolean;
  readonly paused: boolean;
  readonly conditions: readonly Condition[];
}

export interface BoardOptions {
  readonly store: Pick<ReadStore<StoredElastiService>, "get" | "subscribe">;
  readonly clock: Clock;
  /** The current activity by `namespace/service`. Default: that of the last reconcile. */
  readonly activity?: (key: string) => SeenActivity;
}

/** Milliseconds between two reads of the waiting requests. */
const INTERVAL = 1000;

/**
 * What readers see of each service. Every replica has a board. It follows the stored ElastiServices, and on the leader
 * also the results of reconciles. Results have the key of the ElastiService; readers use the key of the Service.
 */
export class Board implements Component, ReadBoard<ServiceView> {
  readonly name = "board";
  readonly #options: BoardOptions;
  readonly #results = new Map<string, ReconcileResult>();
  readonly #histories = new Map<string, ServiceHistory>();
  /** ElastiServices by their Service's key, and the reverse. A Service with more than one is a mistake of a user. */
  readonly #byService = new Map<string, Set<string>>();
  readonly #serviceOf = new Map<string, string>();
  readonly #listeners = new Set<(key: string) => void>();
  #cancel: () => void = () => undefined;

  constructor(options: BoardOptions) {
    this.#options = options;
    options.store.subscribe((change) => {
      this.#index(change.key, change.type === "deleted" ? undefined : change.object);
      if (change.type === "deleted") this.remove(change.key);
      else this.#notifyOf(change.key);
    });
  }

  start(): void {
    this.#cancel = this.#options.clock.schedule(INTERVAL, () => {
      this.#sample();
      this.start();
    });
  }

  stop(): void {
    this.#cancel();
  }

  /** Call it after each reconcile. `key` is that of the ElastiService. */
  show(key: string, result: ReconcileResult): void {
    const { snapshot, decision, stage } = result;
    this.#results.set(key, result);
    const history = this.#history(key);
    const { state, since } = snapshot.stage;
    if (history.changes.length === 0) history.moved({ at: since, state, reason: "", message: "" });
    history.moved({ at: stage.since, state: stage.state, reason: decision.reason, message: decision.message });
    const service = this.#serviceOf.get(key);
    if (service === undefined) return;
    this.#count(key, service);
    this.#notify(service);
  }

  /** A wake began, or was updated. `service` is the Service's key. */
  woken(service: string, wake: WakeRecord): void {
    const key = this.#keyFor(service);
    if (key === undefined) return;
    this.#history(key).woken(wake);
    this.#notify(service);
  }

  /** `key` is that of the ElastiService. */
  remove(key: string): void {
    this.#results.delete(key);
    this.#histories.delete(key);
  }

  /** For the end of a term: the results of this process are no longer current. */
  clear(): void {
    this.#results.clear();
    this.#histories.clear();
    for (const service of this.#byService.keys()) this.#notify(service);
  }

  /** The keys of Services, in alphabetical order. */
  keys(): readonly string[] {
    return [...this.#byService.keys()].sort();
  }

  /** `service` is the Service's key, here and below. */
  get(service: string): ServiceView | undefined {
    const key = this.#keyFor(service);
    const object = key === undefined ? undefined : this.#options.store.get(key);
    return object && key !== undefined ? this.#view(service, object, this.#results.get(key)) : undefined;
  }

  /** Name of the ElastiService that manages a Service. */
  elastiServiceOf(service: string): string | undefined {
    const key = this.#keyFor(service);
    return key === undefined ? undefined : nameOfKey(key).name;
  }

  /** The result of the last reconcile; undefined if this process does not lead. */
  lastResult(service: string): ReconcileResult | undefined {
    const key = this.#keyFor(service);
    return key === undefined ? undefined : this.#results.get(key);
  }

  history(service: string): ServiceHistory {
    const key = this.#keyFor(service);
    return (key === undefined ? undefined : this.#histories.get(key)) ?? new ServiceHistory();
  }

  /** Calls `listener` with the key of each Service that changed, until the returned function is called. */
  subscribe(listener: (service: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #keyFor(service: string): string | undefined {
    const keys = this.#byService.get(service);
    if (!keys) return undefined;
    const [first] = keys;
    return [...keys].find((key) => this.#results.has(key)) ?? first;
  }

  #history(key: string): ServiceHistory {
    let history = this.#histories.get(key);
    if (!history) this.#histories.set(key, (history = new ServiceHistory()));
    return history;
  }

  #sample(): void {
    for (const [key, service] of this.#serviceOf) {
      if (this.#count(key, service)) this.#notify(service);
    }
  }

  #count(key: string, service: string): boolean {
    const object = this.#options.store.get(key);
    if (!object) return false;
    const { activity, replicas } = this.#view(service, object, this.#results.get(key));
    const { pending = null, inFlight = null } = activity ?? {};
    return this.#history(key).counted({ at: this.#options.clock.now(), pending, inFlight, replicas });
  }

  #activity(service: string, seen: Activity | null): Pick<ServiceView, "activity" | "resolvers" | "activityGap"> {
    const now = this.#options.activity?.(service);
    if (!now) return { activity: seen, resolvers: [], activityGap: "" };
    const { total, parts, gap } = now;
    return { activity: gap === null ? total : null, resolvers: parts, activityGap: gap ?? "" };
  }

  #view(
    service: string,
    { metadata, spec, status }: StoredElastiService,
    result: ReconcileResult | undefined,
  ): ServiceView {
    const { namespace = "", name } = nameOfKey(service);
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    return {
      namespace,
      service: name,
      elastiService: metadata.name ?? "",
      target: targetOf(field(spec, "scaleTargetRef")),
      state: result?.stage.state ?? status?.state ?? null,
      since: result?.stage.since ?? timeOf(status?.since),
      replicas: result ? result.snapshot.replicas : (status?.replicas ?? null),
      pods: result?.snapshot.pods ?? null,
      ...this.#activity(service, result?.snapshot.activity ?? null),
      lastWakeMs: result?.lastWakeMs ?? status?.lastWakeMilliseconds ?? null,
      reason: result?.decision.reason ?? ready?.reason ?? "",
      message: result?.decision.message ?? ready?.message ?? "",
      decidedAt: timeOf(result?.decision.at ?? status?.lastReconciledTime),
      dryRun: result?.decision.dryRun ?? field(spec, "dryRun") === true,
      paused: isPaused({ metadata }),
      conditions: status?.conditions ?? [],
    };
  }

  #index(key: string, object: StoredElastiService | undefined): void {
    const before = this.#serviceOf.get(key);
    const after = object && serviceOf(object);
    if (before === after) return;
    if (before !== undefined) {
      const others = this.#byService.get(before);
      others?.delete(key);
      if (others?.size === 0) this.#byService.delete(before);
      this.#serviceOf.delete(key);
      this.remove(key);
      this.#notify(before);
    }
    if (after !== undefined) {
      this.#serviceOf.set(key, after);
      this.#byService.set(after, (this.#byService.get(after) ?? new Set()).add(key));
    }
  }

  #notifyOf(key: string): void {
    const service = this.#serviceOf.get(key);
    if (service !== undefined) this.#notify(service);
  }

  #notify(service: string): void {
    for (const listener of this.#listeners) listener(service);
  }
}

/** The key of the Service that an ElastiService names; undefined for one that selects Services. */
function serviceOf({ metadata: { namespace = "" }, spec }: StoredElastiService): string | undefined {
  const service = field(spec, "service");
  const named = typeof service === "string" && service !== "" && service !== "*";
  return named && field(spec, "selector") === undefined ? serviceKey(namespace, service) : undefined;
}

function targetOf(target: unknown): string {
  const [kind, name] = [field(target, "kind"), field(target, "name")];
  return typeof kind === "string" && typeof name === "string" ? `${kind}/${name}` : "";
}

/** A field of a stored value, which may have any type. */
function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function timeOf(text: string | undefined): number | null {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? null : time;
}
