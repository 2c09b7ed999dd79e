import { parseRebalance, type Rebalance } from "@evenkeel/api";
import {
  hasFinalizer,
  nameKey,
  type ReadStore,
  type Reconcile,
  type ReconcileContext,
  type Resource,
} from "@evenkeel/kube";
import type { MetricRegistry, Metrics } from "@evenkeel/metrics";
import type { Clock, DecisionOf, Decisions } from "@evenkeel/runtime";
import { carryOut, isCarriedOut, type TargetOutcome } from "./act/carry-out.ts";
import { keepFinalizer, revert } from "./act/revert.ts";
import { isFault, isInStep, statusAfter, statusOfInvalid } from "./act/status.ts";
import type { StatusWriter } from "./act/status-writer.ts";
import { nextMemory } from "./decide/memory.ts";
import type { weightDecider } from "./decide/weight-decider.ts";
import type { metrics } from "./metrics.ts";
import { intervalOf, untilNextReconcile } from "./observe/interval.ts";
import type { Memories } from "./observe/memories.ts";
import { metricOf } from "./observe/metric-value.ts";
import type { Observation, Observer, Outside } from "./observe/observer.ts";
import { REVERT_FINALIZER, type StoredRebalance } from "./rebalance-resource.ts";
import type { WeightBoard } from "./serve/weight-board.ts";

export interface ReconcilerOptions {
  readonly rebalances: Resource<StoredRebalance>;
  readonly store: Pick<ReadStore<StoredRebalance>, "get">;
  readonly outside: Outside;
  readonly observer: Observer;
  readonly memories: Memories;
  readonly statuses: StatusWriter;
  readonly decisions: Pick<Decisions<typeof weightDecider>, "decide" | "forget">;
  readonly board: WeightBoard;
  readonly metrics: Metrics<typeof metrics>;
  readonly registry: Pick<MetricRegistry, "forget">;
  readonly clock: Clock;
  /** `--dry-run`: nothing is written for anyone. */
  readonly dryRun: boolean;
}

type WeightDecision = DecisionOf<typeof weightDecider>;

/** Reconciles one Rebalance: observe, decide, act, write the status. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  /** By key, the sentence that went with the last news: repeats say the same, so that they are no change of the status. */
  readonly #told = new Map<string, { readonly id: string; readonly message: string }>();
  /** By key, the uid, by which what is kept of an object that is gone is found. */
  readonly #uids = new Map<string, string>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  readonly reconcile: Reconcile = async (name, context) => {
    const { store } = this.#options;
    const key = nameKey(name);
    const object = store.get(key);
    const { uid = "" } = object?.metadata ?? {};
    const known = this.#uids.get(key);
    if (known !== undefined && known !== uid) await this.#forget(key, known, context);
    if (!object) return undefined;
    this.#uids.set(key, uid);

    const parsed = parseRebalance(object);
    if (object.metadata.deletionTimestamp !== undefined) {
      await this.#letGo(object, parsed.ok ? parsed.value : undefined, context);
      return undefined;
    }
    if (!parsed.ok) {
      await this.#tellInvalid(object, parsed.errors, context);
      return undefined;
    }
    await this.#reconcile(object, parsed.value, context);
    return { requeueAfter: untilNextReconcile(this.#options.clock.now(), intervalOf(parsed.value.spec), key) };
  };

  async #reconcile(object: StoredRebalance, rebalance: Rebalance, context: ReconcileContext): Promise<void> {
    const { rebalances, observer, memories, decisions, board, clock } = this.#options;
    const { signal, term } = context;
    const { uid = "" } = rebalance.metadata;
    const { interval, onDelete } = { interval: intervalOf(rebalance.spec), onDelete: rebalance.spec.onDelete };
    if (!(await keepFinalizer(rebalances, object, onDelete, signal))) return;

    const observation = await observer.observe(rebalance, await memories.recall(uid, term), signal);
    const decision = this.#worded(decisions.decide(observation.snapshot));
    const written = await this.#rememberInitial(object, decision, observation, signal);
    const targets = await carryOut(decision, observation.targets, {
      clock,
      deadline: interval,
      signal,
      held: term.held,
    });
    const memory = nextMemory(observation.snapshot, decision, isCarriedOut(decision, targets));
    await memories.keep(uid, memory, term);

    this.#measure(rebalance, decision, observation, targets);
    board.show(rebalance, { snapshot: observation.snapshot, decision, targets });
    const status = statusAfter(written, { snapshot: observation.snapshot, decision, targets }, clock.now());
    if (status !== written) await this.#options.statuses.write(object, status, signal);
  }

  /** Before the first change of a target, what it was is written down where a restart finds it. */
  async #rememberInitial(
    object: StoredRebalance,
    { action, dryRun }: WeightDecision,
    { targets }: Observation,
    signal: AbortSignal,
  ): Promise<StoredRebalance["status"]> {
    const { status } = object;
    if (action === "hold" || dryRun) return status;
    const known = status?.initialWeights ?? [];
    const fresh = targets.flatMap(({ target, reading }) =>
      reading.weight === null || known.some((initial) => initial.target === target.name)
        ? []
        : [{ target: target.name, weight: reading.weight }],
    );
    if (fresh.length === 0) return status;
    const next = { ...(status ?? { condition: "Unhealthy" }), initialWeights: [...known, ...fresh] };
    await this.#options.statuses.write(object, next, signal);
    return next;
  }

  async #letGo(object: StoredRebalance, rebalance: Rebalance | undefined, context: ReconcileContext): Promise<void> {
    if (!hasFinalizer(object, REVERT_FINALIZER)) return;
    const { rebalances, outside, observer, clock, dryRun } = this.#options;
    const { signal, term, log } = context;
    const lease = await observer.original();
    if (lease !== null) log.warn({ lease }, "the weight is not set back, since the original rebalancer still runs");
    const may = rebalance && !rebalance.spec.dryRun && !dryRun && lease === null;
    const targets = may ? outside.targets(rebalance) : [];
    const told = await revert(object, targets, { rebalances, clock, signal, held: term.held });
    for (const line of told) log.info(line);
  }

  async #tellInvalid(
    object: StoredRebalance,
    errors: readonly string[],
    { signal, log }: ReconcileContext,
  ): Promise<void> {
    const { statuses, clock, metrics } = this.#options;
    log.warn({ errors }, "the spec cannot be understood; nothing is done");
    const { namespace = "", name = "" } = object.metadata;
    metrics.error.set({ namespace, name }, 1);
    metrics.healthy.set({ namespace, name }, 0);
    metrics.available.set({ namespace, name }, 0);
    const status = statusOfInvalid(object.status, errors, object.metadata.generation ?? 0, clock.now());
    if (status !== object.status) await statuses.write(object, status, signal);
  }

  #worded(decision: WeightDecision): WeightDecision {
    const key = nameKey({ namespace: decision.object.namespace, name: decision.object.name });
    const told = this.#told.get(key);
    if (told && told.id === decision.id) return { ...decision, message: told.message };
    this.#told.set(key, { id: decision.id, message: decision.message });
    return decision;
  }

  #measure(
    { metadata: { namespace = "", name } }: Rebalance,
    decision: WeightDecision,
    { snapshot }: Observation,
    targets: readonly TargetOutcome[],
  ): void {
    const { metrics } = this.#options;
    const labels = { namespace, name };
    const failed = isFault({ decision, targets });
    const inStep = isInStep({ targets });
    metrics.error.set(labels, failed ? 1 : 0);
    metrics.healthy.set(labels, !failed && inStep ? 1 : 0);
    metrics.available.set(labels, !failed && !inStep ? 1 : 0);
    metrics.desired.set(labels, decision.after ?? NaN);
    metrics.actual.set(labels, targets[0]?.actual ?? NaN);
    metrics.metric.set(labels, metricOf(snapshot) ?? NaN);
    metrics.target.set(labels, snapshot.policy.targetValue);
  }

  async #forget(key: string, uid: string, { term }: ReconcileContext): Promise<void> {
    const { board, decisions, registry, memories } = this.#options;
    const [namespace = "", name = ""] = key.split("/");
    this.#uids.delete(key);
    this.#told.delete(key);
    board.remove(key);
    decisions.forget({ kind: "Rebalance", namespace, name });
    registry.forget({ namespace, name });
    await memories.forget(uid, term);
  }
}
