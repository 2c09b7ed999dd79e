import { parseRebalancePolicy, type RebalancePolicySpec, type RebalancePolicyStatus } from "@evenkeel/api";
import { type ForeignLease, isPaused, type ObjectName, type Result, type StatusWriter } from "@evenkeel/kube";
import type { Metrics } from "@evenkeel/metrics";
import type { ObjectContext, Reconciler } from "@evenkeel/operator";
import type { Clock, DecisionOf, Decisions } from "@evenkeel/runtime";
import type { State } from "@evenkeel/state";
import { isFault, statusAfter, statusOfInvalid } from "./act/status.ts";
import { type policyDecider, verdictOf } from "./decide/policy-decider.ts";
import type { Measures } from "./measures.ts";
import type { metrics } from "./metrics.ts";
import { nodeLevels } from "./observe/node-levels.ts";
import type { Planned, Planning } from "./observe/planning.ts";
import { policySnapshotText } from "./observe/snapshot-text.ts";
import type { StoredPolicy } from "./policy-resource.ts";
import type { PolicyBoard } from "./serve/plan-view.ts";

export interface PolicyReconcilerOptions {
  readonly planning: Pick<Planning, "plan">;
  readonly original: Pick<ForeignLease, "live">;
  readonly statuses: StatusWriter<StoredPolicy, RebalancePolicyStatus>;
  readonly decisions: Pick<Decisions<typeof policyDecider>, "record">;
  readonly board: PolicyBoard;
  readonly state: Pick<State, "available">;
  readonly metrics: Metrics<typeof metrics>;
  readonly measures: Measures;
  readonly clock: Clock;
  /** Milliseconds between two plans of a policy. */
  readonly syncPeriod: number;
  /** Namespaces whose pods may be evicted; undefined is all. */
  readonly namespaces: readonly string[] | undefined;
}

/** Reconciles one RebalancePolicy: observe, plan, decide, write the status. This version evicts nothing. */
export class PolicyReconciler implements Reconciler<StoredPolicy> {
  readonly #options: PolicyReconcilerOptions;

  constructor(options: PolicyReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(object: StoredPolicy, context: ObjectContext): Promise<Result | undefined> {
    if (object.metadata.deletionTimestamp !== undefined) return undefined;
    const parsed = parseRebalancePolicy(object);
    if (!parsed.ok) {
      await this.#reportInvalid(object, parsed.errors, context);
      return undefined;
    }
    await this.#plan(object, parsed.value.spec, context);
    return { requeueAfter: this.#options.syncPeriod };
  }

  forget({ name }: ObjectName): void {
    this.#options.measures.forget(name);
  }

  endTerm(): void {
    this.#options.measures.endTerm();
  }

  async #plan(object: StoredPolicy, given: RebalancePolicySpec, { signal, term }: ObjectContext): Promise<void> {
    const { planning, original, state, statuses, board, metrics, clock, namespaces } = this.#options;
    const { name = "", generation = 0 } = object.metadata;
    const spec = narrowed(given, namespaces);
    const startedAt = clock.monotonic();
    const planned = isPaused(object) ? null : await planning.plan({ name, spec }, null, signal);
    const decision = this.#decide(name, planned, await original.live());
    metrics.ready.set({ name }, planned === null ? NaN : isFault(decision.reason) ? 0 : 1);
    if (planned) {
      metrics.planSeconds.observe({}, (clock.monotonic() - startedAt) / 1000);
      this.#measure(name, planned);
    }
    const levels = planned?.plan.sigma ? nodeLevels(planned.snapshot, planned.plan) : [];
    if (planned) this.#options.measures.nodes(levels);
    board.show(object, { decision, plan: planned?.plan ?? null, levels, spec });
    const outcome = {
      reason: decision.reason,
      message: decision.message,
      dryRun: true,
      plan: planned?.plan ?? null,
      usageFault: planned?.usageFault ?? null,
      needsUsage: spec.basis === "usage",
      stateAvailable: state.available,
      asksForEvictions: !given.dryRun,
    };
    await statuses.write(object, (present) => statusAfter(present, outcome, generation, clock.now()), term);
  }

  #decide(name: string, planned: Planned | null, original: string | null): DecisionOf<typeof policyDecider> {
    const { decisions, clock } = this.#options;
    const about = {
      policy: name,
      paused: planned === null,
      dryRun: true,
      original,
      usageFault: planned?.usageFault ?? null,
    };
    const at = new Date(planned?.snapshot.at ?? clock.now()).toISOString();
    const verdict = verdictOf(about, planned?.plan ?? null);
    return decisions.record(verdict, at, () =>
      policySnapshotText({ ...about, at, planned: planned?.snapshot ?? null }),
    );
  }

  #measure(name: string, { plan, snapshot, measuredAt }: Planned): void {
    const { measures, metrics } = this.#options;
    measures.plan(name, plan);
    measures.dryRun(name, plan);
    measures.budgets(snapshot.cluster.slos, snapshot.memory?.lastHour ?? {});
    metrics.metricsAge.set({}, measuredAt === null ? NaN : (snapshot.at - measuredAt) / 1000);
  }

  async #reportInvalid(object: StoredPolicy, errors: readonly string[], { log, term }: ObjectContext): Promise<void> {
    const { statuses, metrics, clock } = this.#options;
    const { name = "", generation = 0 } = object.metadata;
    log.warn({ errors }, "the spec is invalid; no plan is made");
    metrics.ready.set({ name }, 0);
    await statuses.write(object, (present) => statusOfInvalid(present, errors, generation, clock.now()), term);
  }
}

/** The policy for the namespaces whose pods may be evicted. An empty list, or `*`, includes every namespace. */
export function narrowed(spec: RebalancePolicySpec, namespaces: readonly string[] | undefined): RebalancePolicySpec {
  if (namespaces === undefined) return spec;
  const { include = [], ...rest } = spec.namespaces ?? {};
  const isIncluded = (namespace: string) =>
    include.length === 0 || include.includes("*") || include.includes(namespace);
  const left = namespaces.filter(isIncluded);
  // A list without any namespace would include all of them. No namespace has this name.
  return { ...spec, namespaces: { ...rest, include: left.length === 0 ? [""] : left } };
}
