import { parseRebalance, type Rebalance, type RebalanceStatus } from "@evenkeel/api";
import {
  keepFinalizer,
  keyOf,
  nameKey,
  type ObjectName,
  type ReconcileContext,
  type Resource,
  type Result,
  type StatusWriter,
} from "@evenkeel/kube";
import type { Metrics } from "@evenkeel/metrics";
import type { ObjectContext, Reconciler } from "@evenkeel/operator";
import type { Clock, DecisionOf, Decisions } from "@evenkeel/runtime";
import { carryOut, failedTargets, isUntouched, overtakenBy } from "./act/carry-out.ts";
import { REVERT_RETRY } from "./act/revert.ts";
import {
  isFault,
  isInStep,
  type Outcome,
  statusAfter,
  statusAfterFailure,
  statusOfInvalid,
  withInitialWeights,
  withoutUnknown,
  withUnknownWeight,
} from "./act/status.ts";
import { nextMemory } from "./decide/memory.ts";
import type { weightDecider } from "./decide/weight-decider.ts";
import type { metrics } from "./metrics.ts";
import type { Claims } from "./observe/claims.ts";
import type { Memories } from "./observe/memories.ts";
import { metricOf } from "./observe/metric-value.ts";
import type { Observation, Observer, Outside } from "./observe/observer.ts";
import { targetSpecs } from "./outside.ts";
import type { PendingChanges } from "./pending-changes.ts";
import { REVERT_FINALIZER, type StoredRebalance } from "./rebalance-resource.ts";
import { isWaiting, type Reverts } from "./reverts.ts";
import { shownAfter, type WeightBoard } from "./serve/weight-view.ts";
import { intervalOf, reconcileDeadline, untilNextReconcile, writeLimit } from "./timing.ts";

export interface RebalanceReconcilerOptions {
  readonly rebalances: Resource<StoredRebalance>;
  readonly outside: Outside;
  readonly observer: Observer;
  readonly claims: Pick<Claims, "forget">;
  readonly memories: Memories;
  readonly statuses: StatusWriter<StoredRebalance, RebalanceStatus>;
  readonly reverts: Pick<Reverts, "release" | "revertFormer">;
  readonly pending: PendingChanges;
  readonly decisions: Pick<Decisions<typeof weightDecider>, "decide">;
  readonly board: WeightBoard;
  readonly metrics: Metrics<typeof metrics>;
  readonly clock: Clock;
  /** `--dry-run`: nothing is written for any Rebalance. */
  readonly dryRun: boolean;
}

/** What is left to do after a reconcile. */
interface Adjusted {
  /** False if a target that the spec no longer names is not reverted yet. */
  readonly isReverted: boolean;
  /** Whether a change is accepted and not in effect everywhere yet. */
  readonly isPending: boolean;
}

type WeightDecision = DecisionOf<typeof weightDecider>;

/** Reconciles one Rebalance: observe, decide, act, write the status. */
export class RebalanceReconciler implements Reconciler<StoredRebalance> {
  readonly #options: RebalanceReconcilerOptions;

  constructor(options: RebalanceReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(object: StoredRebalance, context: ObjectContext): Promise<Result | undefined> {
    const { reverts, pending, clock } = this.#options;
    if (object.metadata.deletionTimestamp !== undefined) return reverts.release(object, context);
    const parsed = parseRebalance(object);
    if (!parsed.ok) {
      await this.#reportInvalid(object, parsed.errors, context);
      return undefined;
    }
    const early = await pending.look(object, parsed.value, context);
    if (early !== undefined) return { requeueAfter: early };
    const { isReverted, isPending } = await this.#adjust(object, parsed.value, context);
    const next = untilNextReconcile(clock.now(), intervalOf(parsed.value.spec), keyOf(object));
    if (!isReverted) return { requeueAfter: Math.min(next, REVERT_RETRY) };
    return { requeueAfter: isPending ? pending.wait(object, next) : next };
  }

  async failed(object: StoredRebalance, error: unknown, { signal }: ReconcileContext): Promise<void> {
    const { statuses, clock } = this.#options;
    const { generation = 0 } = object.metadata;
    this.#measureFault(object);
    const after = (present: RebalanceStatus | undefined) => {
      const status = statusAfterFailure(present, error, generation, clock.now());
      return status === present ? present : withoutUnknown(status);
    };
    await statuses.write(object, after, { signal });
  }

  async forget(name: ObjectName, uid: string, { term }: ReconcileContext): Promise<void> {
    this.#options.pending.forget(nameKey(name));
    this.#options.claims.forget(uid);
    await this.#options.memories.forget(uid, term);
  }

  deadline(object: StoredRebalance): number {
    const parsed = parseRebalance(object);
    return reconcileDeadline(parsed.ok ? parsed.value.spec : {});
  }

  async #adjust(object: StoredRebalance, rebalance: Rebalance, context: ObjectContext): Promise<Adjusted> {
    const { rebalances, observer, memories, decisions, board, clock, dryRun } = this.#options;
    const { signal, term, lastLook } = context;
    const { metadata, spec } = rebalance;
    const { uid = "" } = metadata;
    // A dry run changes nothing, the finalizer included.
    const mayRevert = spec.onDelete === "revert";
    if (!spec.dryRun && !dryRun && !(await keepFinalizer(rebalances, object, REVERT_FINALIZER, mayRevert, { signal })))
      return { isReverted: true, isPending: false };

    const observation = await observer.observe(
      rebalance,
      await memories.recall(uid, object.status ?? {}, term),
      signal,
    );
    const { snapshot } = observation;
    const decision = decisions.decide(snapshot);
    const written = await this.#prepareWrite(rebalance, object, decision, observation, context);
    const [targets, reverts] = await Promise.all([
      carryOut(decision, observation.targets, { clock, limit: writeLimit(spec), signal, lastLook }),
      mayWrite(snapshot) ? this.#options.reverts.revertFormer(object, rebalance, context) : [],
    ]);
    const overtaken = overtakenBy(targets);
    // A stopped write changed nothing, but another target may have been written.
    const memory = nextMemory(snapshot, decision, failedTargets(targets));
    if (!isUntouched(targets)) await memories.keep(uid, memory, term);
    if (overtaken) throw overtaken;

    const outcome = { snapshot, decision, targets, memory, reverts };
    this.#measure(rebalance, outcome);
    board.show(object, shownAfter(board.shown(keyOf(object)), outcome));
    await this.#writeStatus(object, written, statusAfter(written, outcome, clock.now()), context);
    return { isReverted: !reverts.some(isWaiting), isPending: targets.some(({ pending }) => pending) };
  }

  /**
   * Stores the weight of a target before its first change, so that a later process can revert it. A weight that is
   * already stored stays, even if the object at hand is older than it. With `onExternalChange: yield` the weight that
   * was last written is unknown until this write is answered: a process that dies in between must not take its own
   * change for another client's. Returns the status that is then stored.
   */
  async #prepareWrite(
    { spec }: Rebalance,
    object: StoredRebalance,
    { action, dryRun }: WeightDecision,
    { snapshot: { onExternalChange }, targets }: Observation,
    { term }: ReconcileContext,
  ): Promise<RebalanceStatus | undefined> {
    let { status } = object;
    if (action === "hold" || dryRun) return status;
    const { outside, statuses } = this.#options;
    const { namespace = "" } = object.metadata;
    const specs = new Map(targetSpecs(spec).map((each) => [outside.target(namespace, each)?.name, each]));
    const weights = targets.flatMap(({ target: { name: target }, reading: { weight } }) => {
      const named = specs.get(target);
      return weight === null ? [] : [{ target, weight, ...(named && { spec: named }) }];
    });
    const prepared = (present: RebalanceStatus | undefined) => {
      const initial = withInitialWeights(present, weights);
      return onExternalChange === "yield" ? withUnknownWeight(initial) : initial;
    };
    await statuses.write(
      object,
      (present) => {
        status = prepared(present);
        return status === present || status === undefined ? present : withoutUnknown(status);
      },
      term,
    );
    return status;
  }

  async #reportInvalid(object: StoredRebalance, errors: readonly string[], context: ReconcileContext): Promise<void> {
    const { clock } = this.#options;
    context.log.warn({ errors }, "the spec is invalid; nothing is changed");
    this.#measureFault(object);
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

  #measureFault({ metadata: { namespace = "", name = "" } }: StoredRebalance): void {
    const { metrics } = this.#options;
    metrics.error.set({ namespace, name }, 1);
    metrics.healthy.set({ namespace, name }, 0);
    metrics.available.set({ namespace, name }, 0);
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

/** A pause and an active original stop every write, also to targets that the spec no longer names. */
function mayWrite({ blocked }: Observation["snapshot"]): boolean {
  return blocked === null || blocked.reason === "Conflict";
}
