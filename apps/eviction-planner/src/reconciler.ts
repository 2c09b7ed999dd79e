import { parseRebalancePolicy, type RebalancePolicySpec, type RebalancePolicyStatus } from "@evenkeel/api";
import { type ForeignLease, isPaused, type ObjectName, type Result, type StatusWriter } from "@evenkeel/kube";
import type { Metrics } from "@evenkeel/metrics";
import type { ObjectContext, Reconciler } from "@evenkeel/operator";
import type { Clock, DecisionOf, Decisions } from "@evenkeel/runtime";
import type { State } from "@evenkeel/state";
import type { Evictor } from "./act/evictor.ts";
import { isFault, statusAfter, statusOfInvalid } from "./act/status.ts";
import { type policyDecider, type PolicySnapshot, verdictOf } from "./decide/policy-decider.ts";
import type { Measures } from "./measures.ts";
import type { metrics } from "./metrics.ts";
import { type NodeLevel, nodeLevels } from "./observe/node-levels.ts";
import type { Planned, Planning, Recall } from "./observe/planning.ts";
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
  readonly evictor: Evictor;
  /** `--dry-run`: nothing is evicted for any policy. */
  readonly dryRun: boolean;
  /** Milliseconds between two plans of a policy. */
  readonly syncPeriod: number;
  /** Namespaces whose pods may be evicted; undefined is all. */
  readonly namespaces: readonly string[] | undefined;
}

interface Acting {
  readonly stop: PolicySnapshot["stop"];
  readonly trusted: boolean;
}

const NOTHING_EVICTED = { evicted: 0, fault: undefined };

/** Milliseconds that a reconcile may take: other policies may evict before it. */
const DEADLINE = 180_000;

/** Reconciles one RebalancePolicy: observe, plan, decide, evict, write the status. */
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
    const { evictor, syncPeriod, dryRun } = this.#options;
    const { spec } = parsed.value;
    if (isPaused(object)) await this.#report(object, spec, null, { stop: null, trusted: true }, context);
    else if (spec.dryRun || dryRun) await this.#plan(object, spec, context);
    else await evictor.alone(() => this.#act(object, spec, context));
    return { requeueAfter: syncPeriod };
  }

  deadline(): number {
    return DEADLINE;
  }

  forget({ name }: ObjectName): void {
    this.#options.measures.forget(name);
    this.#options.evictor.forget(name);
  }

  endTerm(): void {
    this.#options.measures.endTerm();
    this.#options.evictor.endTerm();
  }

  /** A dry run: the whole plan, as if nothing limited how fast it is carried out. */
  async #plan(object: StoredPolicy, spec: RebalancePolicySpec, context: ObjectContext): Promise<void> {
    const planned = await this.#planned(object, spec, () => null, context);
    this.#options.measures.dryRun(planned.plan.policy, planned.plan);
    await this.#report(object, spec, planned, { stop: null, trusted: true }, context);
  }

  async #act(object: StoredPolicy, spec: RebalancePolicySpec, context: ObjectContext): Promise<void> {
    const { evictor } = this.#options;
    const { name = "" } = object.metadata;
    const recalled = await evictor.recall(object.status?.plan?.lastExecutionTime, context.term);
    const { record } = recalled;
    const recall: Recall = (cluster, at) => (record === null ? null : evictor.memory(name, record, cluster, at));
    const planned = await this.#planned(object, spec, recall, context);
    if (record !== null) await evictor.follow(record, planned, context);
    const acting = { stop: evictor.stop(recalled, planned), trusted: evictor.isTrusted(recalled) };
    await this.#report(object, spec, planned, acting, context);
  }

  async #planned(
    object: StoredPolicy,
    spec: RebalancePolicySpec,
    recall: Recall,
    { signal }: ObjectContext,
  ): Promise<Planned> {
    const { planning, clock, metrics, namespaces } = this.#options;
    const { name = "" } = object.metadata;
    const startedAt = clock.monotonic();
    const planned = await planning.plan({ name, spec: narrowed(spec, namespaces) }, recall, signal);
    metrics.planSeconds.observe({}, (clock.monotonic() - startedAt) / 1000);
    return planned;
  }

  /** Decides, evicts if that is decided, and tells what came of it. Without a plan the policy is paused. */
  async #report(
    object: StoredPolicy,
    spec: RebalancePolicySpec,
    planned: Planned | null,
    { stop, trusted }: Acting,
    context: ObjectContext,
  ): Promise<void> {
    const { original, state, statuses, board, metrics, clock, evictor } = this.#options;
    const { name = "", generation = 0 } = object.metadata;
    const dryRun = spec.dryRun || this.#options.dryRun;
    const about = { policy: name, paused: planned === null, dryRun, original: await original.live(), stop };
    const decision = this.#decide({ ...about, usageFault: planned?.usageFault ?? null }, planned);
    const acts = planned !== null && decision.action === "evict" && !decision.dryRun;
    const { evicted, fault } = acts ? await evictor.evict(planned, spec, context) : NOTHING_EVICTED;
    metrics.ready.set({ name }, planned === null ? NaN : isFault(decision.reason) ? 0 : 1);
    const levels = planned?.plan.sigma ? nodeLevels(planned.snapshot, planned.plan) : [];
    if (planned) this.#measure(name, planned, levels);
    board.show(object, { decision, plan: planned?.plan ?? null, levels, spec });
    const outcome = {
      reason: decision.reason,
      message: decision.message,
      dryRun,
      plan: planned?.plan ?? null,
      usageFault: planned?.usageFault ?? null,
      needsUsage: spec.basis === "usage",
      stateAvailable: state.available,
      landingTrusted: trusted,
      evicted,
    };
    await statuses.write(object, (present) => statusAfter(present, outcome, generation, clock.now()), context.term);
    // The status tells of evictions also where the wave ended early.
    if (fault !== undefined) throw fault;
  }

  #decide(about: Omit<PolicySnapshot, "at" | "planned">, planned: Planned | null): DecisionOf<typeof policyDecider> {
    const { decisions, clock } = this.#options;
    const at = new Date(planned?.snapshot.at ?? clock.now()).toISOString();
    const verdict = verdictOf(about, planned?.plan ?? null);
    return decisions.record(verdict, at, () =>
      policySnapshotText({ ...about, at, planned: planned?.snapshot ?? null }),
    );
  }

  #measure(name: string, { plan, snapshot, measuredAt }: Planned, levels: readonly NodeLevel[]): void {
    const { measures, metrics } = this.#options;
    measures.plan(name, plan);
    measures.nodes(levels);
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
