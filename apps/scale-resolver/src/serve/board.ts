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

/** What came of a turn: the leader knows it, others read the status. */
export interface ShownTurn {
  /** What was seen; its `stage` is the one before. */
  readonly snapshot: ServiceSnapshot;
  readonly decision: Pick<DecisionOf<typeof stateDecider>, "at" | "action" | "reason" | "message" | "dryRun">;
  /** The one after, as it was carried out. */
  readonly stage: Stage;
  /** From the first held request of the last wake to the first ready pod; null before the first. */
  readonly lastWakeMs: number | null;
}

/** What readers see of one service. Null is unknown. */
export interface ServiceView {
  readonly namespace: string;
  readonly service: string;
  /** Name of the ElastiService. */
  readonly elastiService: string;
  /** The workload, such as `Deployment/checkout`; empty where the spec does not say. */
  readonly target: string;
  readonly state: State | null;
  /** Milliseconds since 1970. */
  readonly since: number | null;
  readonly replicas: number | null;
  readonly pods: Pods | null;
  /** Of all resolvers; null while that is not known of every one. */
  readonly activity: Activity | null;
  /** What each has that is heard of. */
  readonly resolvers: readonly Pick<ReplicaActivity, "replica" | "pending" | "inFlight">[];
  /** A sentence that says who is not heard of; empty if everyone is. */
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
  /** What is under way now, by `namespace/service`. Without it, what the last turn saw is shown. */
  readonly activity?: (key: string) => SeenActivity;
}

/** How often what waits is looked at, in milliseconds. */
const INTERVAL = 1000;

/**
 * What readers see of each service. Every replica has one: it follows the ElastiServices as they are stored, and where this process
 * leads it knows more than they tell. Turns come under the ElastiService's `namespace/name`, readers ask by the Service's.
 */
export class Board implements Component, ReadBoard<ServiceView> {
  readonly name = "board";
  readonly #options: BoardOptions;
  readonly #turns = new Map<string, ShownTurn>();
  readonly #histories = new Map<string, ServiceHistory>();
  /** ElastiServices by their Service's key, and the other way round. More than one for a Service is somebody's mistake. */
  readonly #byService = new Map<string, Set<string>>();
  readonly #serviceOf = new Map<string, string>();
  readonly #listeners = new Set<(key: string) => void>();
  #cancel: () => void = () => undefined;

  constructor(options: BoardOptions) {
    this.#options = options;
    options.store.subscribe((change) => {
      this.#index(change.key, change.type === "deleted" ? undefined : change.object);
      if (change.type === "deleted") this.remove(change.key);
      else this.#tellOf(change.key);
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

  /** Call it after each reconcile. `key` is the ElastiService's. */
  show(key: string, turn: ShownTurn): void {
    const { snapshot, decision, stage } = turn;
    this.#turns.set(key, turn);
    const history = this.#history(key);
    const { state, since } = snapshot.stage;
    if (history.changes.length === 0) history.moved({ at: since, state, reason: "", message: "" });
    history.moved({ at: stage.since, state: stage.state, reason: decision.reason, message: decision.message });
    const service = this.#serviceOf.get(key);
    if (service === undefined) return;
    this.#count(key, service);
    this.#tell(service);
  }

  /** A wake began, or more is known of it. `service` is the Service's key. */
  woken(service: string, wake: WakeRecord): void {
    const key = this.#keyFor(service);
    if (key === undefined) return;
    this.#history(key).woken(wake);
    this.#tell(service);
  }

  /** `key` is the ElastiService's. */
  remove(key: string): void {
    this.#turns.delete(key);
    this.#histories.delete(key);
  }

  /** Another leads now: what this process last did is no longer how things are. */
  clear(): void {
    this.#turns.clear();
    this.#histories.clear();
    for (const service of this.#byService.keys()) this.#tell(service);
  }

  /** Of Services, in alphabetical order. */
  keys(): readonly string[] {
    return [...this.#byService.keys()].sort();
  }

  /** `service` is the Service's key, here and below. */
  get(service: string): ServiceView | undefined {
    const key = this.#keyFor(service);
    const object = key === undefined ? undefined : this.#options.store.get(key);
    return object && key !== undefined ? this.#view(service, object, this.#turns.get(key)) : undefined;
  }

  /** Name of the ElastiService that looks after a Service. */
  elastiServiceOf(service: string): string | undefined {
    const key = this.#keyFor(service);
    return key === undefined ? undefined : nameOfKey(key).name;
  }

  /** What the last turn left; nothing where this process does not lead. */
  turn(service: string): ShownTurn | undefined {
    const key = this.#keyFor(service);
    return key === undefined ? undefined : this.#turns.get(key);
  }

  history(service: string): ServiceHistory {
    const key = this.#keyFor(service);
    return (key === undefined ? undefined : this.#histories.get(key)) ?? new ServiceHistory();
  }

  /** Calls `listener` with the key of each Service that something happened to, until the returned function is called. */
  subscribe(listener: (service: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #keyFor(service: string): string | undefined {
    const keys = this.#byService.get(service);
    if (!keys) return undefined;
    const [first] = keys;
    return [...keys].find((key) => this.#turns.has(key)) ?? first;
  }

  #history(key: string): ServiceHistory {
    let history = this.#histories.get(key);
    if (!history) this.#histories.set(key, (history = new ServiceHistory()));
    return history;
  }

  #sample(): void {
    for (const [key, service] of this.#serviceOf) {
      if (this.#count(key, service)) this.#tell(service);
    }
  }

  #count(key: string, service: string): boolean {
    const object = this.#options.store.get(key);
    if (!object) return false;
    const { activity, replicas } = this.#view(service, object, this.#turns.get(key));
    const { pending = null, inFlight = null } = activity ?? {};
    return this.#history(key).counted({ at: this.#options.clock.now(), pending, inFlight, replicas });
  }

  #activity(service: string, seen: Activity | null): Pick<ServiceView, "activity" | "resolvers" | "activityGap"> {
    const now = this.#options.activity?.(service);
    if (!now) return { activity: seen, resolvers: [], activityGap: "" };
    const { total, parts, gap } = now;
    return { activity: gap === null ? total : null, resolvers: parts, activityGap: gap ?? "" };
  }

  #view(service: string, { metadata, spec, status }: StoredElastiService, turn: ShownTurn | undefined): ServiceView {
    const { namespace = "", name } = nameOfKey(service);
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    return {
      namespace,
      service: name,
      elastiService: metadata.name ?? "",
      target: targetOf(field(spec, "scaleTargetRef")),
      state: turn?.stage.state ?? status?.state ?? null,
      since: turn?.stage.since ?? timeOf(status?.since),
      replicas: turn ? turn.snapshot.replicas : (status?.replicas ?? null),
      pods: turn?.snapshot.pods ?? null,
      ...this.#activity(service, turn?.snapshot.activity ?? null),
      lastWakeMs: turn?.lastWakeMs ?? status?.lastWakeMilliseconds ?? null,
      reason: turn?.decision.reason ?? ready?.reason ?? "",
      message: turn?.decision.message ?? ready?.message ?? "",
      decidedAt: timeOf(turn?.decision.at ?? status?.lastReconciledTime),
      dryRun: turn?.decision.dryRun ?? field(spec, "dryRun") === true,
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
      this.#tell(before);
    }
    if (after !== undefined) {
      this.#serviceOf.set(key, after);
      this.#byService.set(after, (this.#byService.get(after) ?? new Set()).add(key));
    }
  }

  #tellOf(key: string): void {
    const service = this.#serviceOf.get(key);
    if (service !== undefined) this.#tell(service);
  }

  #tell(service: string): void {
    for (const listener of this.#listeners) listener(service);
  }
}

/** The key of the Service that an ElastiService is about; nothing for one from which others are made. */
function serviceOf({ metadata: { namespace = "" }, spec }: StoredElastiService): string | undefined {
  const service = field(spec, "service");
  const named = typeof service === "string" && service !== "" && service !== "*";
  return named && field(spec, "selector") === undefined ? serviceKey(namespace, service) : undefined;
}

function targetOf(target: unknown): string {
  const [kind, name] = [field(target, "kind"), field(target, "name")];
  return typeof kind === "string" && typeof name === "string" ? `${kind}/${name}` : "";
}

/** A field of what somebody stored, which may be anything. */
function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function timeOf(text: string | undefined): number | null {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? null : time;
}
