import { parseRebalance, type Rebalance, type RebalanceStatus } from "@evenkeel/api";
import {
  hasFinalizer,
  keepFinalizer,
  keyOf,
  type ObjectName,
  type ReconcileContext,
  type Resource,
  type Result,
  type StatusWriter,
} from "@evenkeel/kube";
import type { Metrics } from "@evenkeel/metrics";
import type { ObjectContext, Reconciler } from "@evenkeel/operator";
import type { Clock, DecisionOf, Decisions } from "@evenkeel/runtime";
import { carryOut, isCarriedOut, overtakenBy } from "./act/carry-out.ts";
import { revert } from "./act/revert.ts";
import {
  isFault,
  isInStep,
  type Outcome,
  statusAfter,
  statusOfInvalid,
  withInitialWeights,
  withoutUnknown,
} from "./act/status.ts";
import { nextMemory } from "./decide/memory.ts";
import type { weightDecider } from "./decide/weight-decider.ts";
import type { metrics } from "./metrics.ts";
import type { Memories } from "./observe/memories.ts";
import { metricOf } from "./observe/metric-value.ts";
import type { Observation, Observer, Outside } from "./observe/observer.ts";
import { REVERT_FINALIZER, type StoredRebalance } from "./rebalance-resource.ts";
import { shownAfter, type WeightBoard } from "./serve/weight-view.ts";
import { intervalOf, reconcileDeadline, untilNextReconcile, writeLimit } from "./timing.ts";

export interface RebalanceReconcilerOptions {
  readonly rebalances: Resource<StoredRebalance>;
  readonly outside: Outside;
  readonly observer: Observer;
  readonly memories: Memories;
  readonly statuses: StatusWriter<StoredRebalance, RebalanceStatus>;
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

  async reconcile(object: StoredRebalance, context: ObjectContext): Promise<Result | undefined> {
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

  deadline(object: StoredRebalance): number {
    const parsed = parseRebalance(object);
    return reconcileDeadline(parsed.ok ? parsed.value.spec : {});
  }

  async #adjust(object: StoredRebalance, rebalance: Rebalance, context: ObjectContext): Promise<void> {
    const { rebalances, observer, memories, decisions, board, clock } = this.#options;
    const { signal, term, lastLook } = context;
    const { metadata, spec } = rebalance;
    const { uid = "" } = metadata;
    if (!(await keepFinalizer(rebalances, object, REVERT_FINALIZER, spec.onDelete === "revert", { signal }))) return;

    const observation = await observer.observe(rebalance, await memories.recall(uid, term), signal);
    const { snapshot } = observation;
    const decision = decisions.decide(snapshot);
    const written = await this.#rememberInitial(object, decision, observation, context);
    const targets = await carryOut(decision, observation.targets, { clock, limit: writeLimit(spec), signal, lastLook });
    const overtaken = overtakenBy(targets);
    // A stopped write changed nothing, but another target may have been written.
    if (!overtaken || targets.length > 1)
      await memories.keep(uid, nextMemory(snapshot, decision, isCarriedOut(decision, targets)), term);
    if (overtaken) throw overtaken;

    const outcome = { snapshot, decision, targets };
    this.#measure(rebalance, outcome);
    board.show(object, shownAfter(board.shown(keyOf(object)), outcome));
    await this.#writeStatus(object, written, statusAfter(written, outcome, clock.now()), context);
  }

  /**
   * Stores the weight of a target before its first change, so that a later process can revert it. A weight that is
   * already stored stays, even if the object at hand is older than it. Returns the status that is then stored.
   */
  async #rememberInitial(
    object: StoredRebalance,
    { action, dryRun }: WeightDecision,
    { targets }: Observation,
    { term }: ReconcileContext,
  ): Promise<RebalanceStatus | undefined> {
    let { status } = object;
    if (action === "hold" || dryRun) return status;
    const weights = targets.flatMap(({ target: { name: target }, reading: { weight } }) =>
      weight === null ? [] : [{ target, weight }],
    );
    await this.#options.statuses.write(object, (present) => (status = withInitialWeights(present, weights)), term);
    return status;
  }

  async #release(object: StoredRebalance, rebalance: Rebalance | undefined, context: ObjectContext): Promise<void> {
    if (!hasFinalizer(object, REVERT_FINALIZER)) return;
    const { rebalances, outside, observer, clock, dryRun } = this.#options;
    const { signal, lastLook, log } = context;
    const lease = await observer.original();
    if (lease !== null) log.warn({ lease }, "the weight is not reverted, because the original rebalancer still runs");
    const may = rebalance && !rebalance.spec.dryRun && !dryRun && lease === null;
    const targets = may ? outside.targets(rebalance) : [];
    for (const line of await revert(object, targets, { rebalances, clock, signal, lastLook })) log.info(line);
  }

  async #reportInvalid(object: StoredRebalance, errors: readonly string[], context: ReconcileContext): Promise<void> {
    const { clock, metrics } = this.#options;
    context.log.warn({ errors }, "the spec is invalid; nothing is changed");
    const { namespace = "", name = "" } = object.metadata;
    metrics.error.set({ namespace, name }, 1);
    metrics.healthy.set({ namespace, name }, 0);
    metrics.available.set({ namespace, name }, 0);
    const status = statusOfInvalid(object.status, errors, object.metadata.generation ?? 0, clock.now());
    await this.#writeStatus(object, object.status, status, context);
  }

  async #writeStatus(
    object: StoredRebalance,
    before: RebalanceStatus | undefined,
    status: RebalanceStatus,
    { term }: ReconcileContext,
  ): Promise<void> {
    if (status !== before) await this.#options.statuses.write(object, withoutUnknown(status), term);
  }

  #measure({ metadata: { namespace = "", name } }: Rebalance, outcome: Outcome): void {
    const { metrics } = this.#options;
    const { snapshot, decision, targets } = outcome;
    const labels = { namespace, name };
    const failed = isFault(outcome);
    const inStep = isInStep(outcome);
    metrics.error.set(labels, failed ? 1 : 0);
    metrics.healthy.set(labels, !failed && inStep ? 1 : 0);
    metrics.available.set(labels, !failed && !inStep ? 1 : 0);
    metrics.desired.set(labels, decision.after ?? NaN);
    metrics.actual.set(labels, targets[0]?.actual ?? NaN);
    metrics.metric.set(labels, metricOf(snapshot) ?? NaN);
    metrics.target.set(labels, snapshot.policy.targetValue);
  }
}
