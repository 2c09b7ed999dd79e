import { parseRebalance, type Rebalance } from "@evenkeel/api";
import {
  hasFinalizer,
  keyOf,
  type ObjectName,
  type ReconcileContext,
  type Resource,
  type Result,
} from "@evenkeel/kube";
import type { Metrics } from "@evenkeel/metrics";
import type { Reconciler } from "@evenkeel/operator";
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
import { shownAfter, type WeightBoard } from "./serve/weight-view.ts";

export interface RebalanceReconcilerOptions {
  readonly rebalances: Resource<StoredRebalance>;
  readonly outside: Outside;
  readonly observer: Observer;
  readonly memories: Memories;
  readonly statuses: StatusWriter;
  readonly decisions: Pick<Decisions<typeof weightDecider>, "decide">;
  readonly board: WeightBoard;
  readonly metrics: Metrics<typeof metrics>;
  readonly clock: Clock;
  /** `--dry-run`: nothing is written for any Rebalance. */
  readonly dryRun: boolean;
}

type WeightDecision = DecisionOf<typeof weightDecider>;

/** Reconciles one Rebalance: observe, decide, act, write the status. */
export class RebalanceReconciler implements Reconciler<StoredRebalance> {
  readonly #options: RebalanceReconcilerOptions;

  constructor(options: RebalanceReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(object: StoredRebalance, context: ReconcileContext): Promise<Result | undefined> {
    const parsed = parseRebalance(object);
    if (object.metadata.deletionTimestamp !== undefined) {
      await this.#release(object, parsed.ok ? parsed.value : undefined, context);
      return undefined;
    }
    if (!parsed.ok) {
      await this.#reportInvalid(object, parsed.errors, context);
      return undefined;
    }
    await this.#adjust(object, parsed.value, context);
    return {
      requeueAfter: untilNextReconcile(this.#options.clock.now(), intervalOf(parsed.value.spec), keyOf(object)),
    };
  }

  async forget(_name: ObjectName, uid: string, { term }: ReconcileContext): Promise<void> {
    await this.#options.memories.forget(uid, term);
  }

  async #adjust(object: StoredRebalance, rebalance: Rebalance, context: ReconcileContext): Promise<void> {
    const { rebalances, observer, memories, decisions, board, clock } = this.#options;
    const { signal, term } = context;
    const { uid = "" } = rebalance.metadata;
    const { interval, onDelete } = { interval: intervalOf(rebalance.spec), onDelete: rebalance.spec.onDelete };
    if (!(await keepFinalizer(rebalances, object, onDelete, signal))) return;

    const observation = await observer.observe(rebalance, await memories.recall(uid, term), signal);
    const decision = decisions.decide(observation.snapshot);
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
    const outcome = { snapshot: observation.snapshot, decision, targets };
    board.show(object, shownAfter(board.shown(keyOf(object)), outcome));
    const status = statusAfter(written, outcome, clock.now());
    if (status !== written) await this.#options.statuses.write(object, status, signal);
  }

  /** Stores the weight of a target before its first change, so that a later process can revert it. */
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

  async #release(object: StoredRebalance, rebalance: Rebalance | undefined, context: ReconcileContext): Promise<void> {
    if (!hasFinalizer(object, REVERT_FINALIZER)) return;
    const { rebalances, outside, observer, clock, dryRun } = this.#options;
    const { signal, term, log } = context;
    const lease = await observer.original();
    if (lease !== null) log.warn({ lease }, "the weight is not reverted, because the original rebalancer still runs");
    const may = rebalance && !rebalance.spec.dryRun && !dryRun && lease === null;
    const targets = may ? outside.targets(rebalance) : [];
    const told = await revert(object, targets, { rebalances, clock, signal, held: term.held });
    for (const line of told) log.info(line);
  }

  async #reportInvalid(
    object: StoredRebalance,
    errors: readonly string[],
    { signal, log }: ReconcileContext,
  ): Promise<void> {
    const { statuses, clock, metrics } = this.#options;
    log.warn({ errors }, "the spec is invalid; nothing is changed");
    const { namespace = "", name = "" } = object.metadata;
    metrics.error.set({ namespace, name }, 1);
    metrics.healthy.set({ namespace, name }, 0);
    metrics.available.set({ namespace, name }, 0);
    const status = statusOfInvalid(object.status, errors, object.metadata.generation ?? 0, clock.now());
    if (status !== object.status) await statuses.write(object, status, signal);
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
}
