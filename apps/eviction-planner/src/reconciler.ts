import { parseEvictionPlanner, type EvictionPlannerStatus } from "@evenkeel/api";
import { type ConfigMap, kubeErrors, type Resource, type Result, type StatusWriter } from "@evenkeel/kube";
import type { Metrics } from "@evenkeel/metrics";
import type { ObjectBoard, ObjectContext, ObjectView, Reconciler } from "@evenkeel/operator";
import { type Clock, type Decision, type Decisions, explain } from "@evenkeel/runtime";
import { carryOut } from "./act/carry-out.ts";
import { type Finding, statusAfter } from "./act/status.ts";
import type { levelDecider } from "./decide/level-decider.ts";
import type { metrics } from "./metrics.ts";
import type { Observer } from "./observe/observer.ts";
import type { StoredEvictionPlanner } from "./eviction-planner-resource.ts";

export interface LevelReconcilerOptions {
  readonly observer: Observer;
  readonly configMaps: Resource<ConfigMap>;
  readonly statuses: StatusWriter<StoredEvictionPlanner, EvictionPlannerStatus>;
  readonly decisions: Pick<Decisions<typeof levelDecider>, "decide">;
  readonly board: ObjectBoard<StoredEvictionPlanner, Decision, ObjectView>;
  readonly metrics: Metrics<typeof metrics>;
  readonly clock: Clock;
  /** Milliseconds between two reconciles of an object that does not change. */
  readonly interval: number;
}

/** Reconciles one EvictionPlanner: observe, decide, act, write the status. */
export class LevelReconciler implements Reconciler<StoredEvictionPlanner> {
  readonly #options: LevelReconcilerOptions;

  constructor(options: LevelReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(object: StoredEvictionPlanner, context: ObjectContext): Promise<Result | undefined> {
    const { observer, decisions, configMaps, board, metrics, interval } = this.#options;
    if (object.metadata.deletionTimestamp !== undefined) return undefined;
    const parsed = parseEvictionPlanner(object);
    if (!parsed.ok) {
      const message = parsed.errors.join("; ");
      await this.#report(object, { level: null, ready: false, reason: "InvalidSpec", message }, context);
      return undefined;
    }
    const snapshot = await observer.observe(object, parsed.value.spec, context.signal);
    const { namespace, name, level } = snapshot;
    const decision = decisions.decide(snapshot);
    try {
      await carryOut(decision, parsed.value, configMaps, context);
    } catch (error) {
      if (!(error instanceof kubeErrors.ActOvertaken))
        await this.#report(object, { level, ready: false, reason: "ActFailed", message: explain(error) }, context);
      throw error;
    }
    metrics.level.set({ namespace, name }, level ?? NaN);
    board.show(object, decision);
    const { reason, message } = decision;
    await this.#report(object, { level, ready: level === null ? undefined : true, reason, message }, context);
    return { requeueAfter: interval };
  }

  #report(object: StoredEvictionPlanner, finding: Finding, { term }: ObjectContext): Promise<void> {
    const { statuses, clock } = this.#options;
    return statuses.write(object, statusAfter(object, finding, clock.now()), term);
  }
}
