import { parseRebalancePolicy, type RebalancePolicySpec, type RebalancePolicyStatus } from "@evenkeel/api";
import {
  type ForeignLease,
  isPaused,
  kubeErrors,
  type ObjectName,
  type ReconcileContext,
  type Result,
  type StatusWriter,
} from "@evenkeel/kube";
import type { Metrics } from "@evenkeel/metrics";
import type { ObjectContext, Reconciler } from "@evenkeel/operator";
import type { Clock, DecisionOf, Decisions } from "@evenkeel/runtime";
import type { State } from "@evenkeel/state";
import type { Evictor } from "./act/evictor.ts";
import type { GuardRails } from "./act/guard-rails.ts";
import { isFault, statusAfter, statusAfterFailure, statusOfInvalid } from "./act/status.ts";
import { NO_EVICTIONS } from "./decide/evictions.ts";
import { type policyDecider, type PolicySnapshot, verdictOf } from "./decide/policy-decider.ts";
import type { Measures } from "./measures.ts";
import type { metrics } from "./metrics.ts";
import type { FollowedCluster } from "./observe/cluster/follow-cluster.ts";
import { type NodeLevel, nodeLevels } from "./observe/node-levels.ts";
import type { Planned, Planning, Recall } from "./observe/planning.ts";
import { policySnapshotText } from "./observe/snapshot-text.ts";
import type { StoredPolicy } from "./policy-resource.ts";
import { History } from "./serve/history.ts";
import { budgetViews, type PolicyBoard } from "./serve/plan-view.ts";

export interface PolicyReconcilerOptions {
  readonly cluster: Pick<FollowedCluster, "whenSynced">;
  readonly planning: Pick<Planning, "plan">;
  readonly original: Pick<ForeignLease, "live">;
  /** The Lease of descheduler, which may run at the same time: a condition says so. */
  readonly descheduler: Pick<ForeignLease, "live">;
  readonly guardRails: Pick<GuardRails, "report">;
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

interface Reported {
  /** Null while paused. */
  readonly planned: Planned | null;
  /** What ended the wave early. */
  readonly fault: Error | undefined;
}

const NOTHING_EVICTED = { evicted: 0, unclear: 0, fault: undefined };

/** Milliseconds that a reconcile may take: other policies may evict before it. */
const DEADLINE = 180_000;

/** Reconciles one RebalancePolicy: observe, plan, decide, evict, write the status. */
export class PolicyReconciler implements Reconciler<StoredPolicy> {
  readonly #options: PolicyReconcilerOptions;
  /** By policy. */
  readonly #shown = new Map<string, { readonly history: History; lastWave: readonly NodeLevel[] }>();

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
    const { cluster, evictor, syncPeriod, dryRun } = this.#options;
    const { spec } = parsed.value;
    if (isPaused(object)) await this.#reportPaused(object, spec, context);
    else if (spec.dryRun || dryRun) await this.#tell(await this.#plan(object, spec, context), context);
    else {
      // Outside of the queue: a kind that cannot be listed would make each policy in it wait.
      await cluster.whenSynced(context.signal);
      await this.#tell(await evictor.alone(() => this.#act(object, spec, context), context.signal), context);
    }
    return { requeueAfter: syncPeriod };
  }

  deadline(): number {
    return DEADLINE;
  }

  async failed(object: StoredPolicy, error: unknown, { signal }: ReconcileContext): Promise<void> {
    const { statuses, metrics, clock } = this.#options;
    const { name = "", generation = 0 } = object.metadata;
    metrics.ready.set({ name }, 0);
    await statuses.write(object, (present) => statusAfterFailure(present, error, generation, clock.now()), { signal });
  }

  forget({ name }: ObjectName): void {
    this.#shown.delete(name);
    this.#options.measures.forget(name);
    this.#options.evictor.forget(name);
  }

  endTerm(): void {
    this.#shown.clear();
    this.#options.measures.endTerm();
    this.#options.evictor.endTerm();
  }

  async #reportPaused(object: StoredPolicy, spec: RebalancePolicySpec, context: ObjectContext): Promise<void> {
    // An edit is noticed by its generation; an annotation changes none.
    this.#options.evictor.drop(object.metadata.name ?? "");
    await this.#report(object, spec, null, { stop: null, trusted: true }, context);
  }

  /** A dry run: the whole plan, as if nothing limited how fast it is carried out. */
  async #plan(object: StoredPolicy, spec: RebalancePolicySpec, context: ObjectContext): Promise<Reported> {
    const planned = await this.#planned(object, spec, () => null, context);
    this.#options.measures.dryRun(planned.plan.policy, planned.plan);
    return this.#report(object, spec, planned, { stop: null, trusted: true }, context);
  }

  async #act(object: StoredPolicy, spec: RebalancePolicySpec, context: ObjectContext): Promise<Reported> {
    const { evictor } = this.#options;
    const { name = "", generation = 0 } = object.metadata;
    evictor.begin(name, generation);
    const recalled = await evictor.recall(context.term);
    const { record } = recalled;
    const recall: Recall = (cluster) => (record === null ? null : evictor.memory(name, record, cluster));
    const planned = await this.#planned(object, spec, recall, context);
    if (record !== null) await evictor.follow(record, planned, context);
    const acting = { stop: evictor.stop(recalled, planned), trusted: evictor.isTrusted(recalled, planned) };
    return this.#report(object, spec, planned, acting, context);
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
  ): Promise<Reported> {
    const { original, descheduler, state, statuses, board, metrics, clock, evictor } = this.#options;
    const { name = "", generation = 0 } = object.metadata;
    const dryRun = spec.dryRun || this.#options.dryRun;
    const [originalHolder, deschedulerHolder] = await Promise.all([original.live(), descheduler.live()]);
    const about = { policy: name, paused: planned === null, dryRun, original: originalHolder, stop };
    const decision = this.#decide({ ...about, usageFault: planned?.usageFault ?? null }, planned);
    const acts = planned !== null && decision.action === "evict" && !decision.dryRun;
    const { evicted, unclear, fault } = acts ? await evictor.evict(planned, spec, context) : NOTHING_EVICTED;
    metrics.ready.set({ name }, planned === null ? NaN : isFault(decision.reason) ? 0 : 1);
    const levels = planned?.plan.sigma ? nodeLevels(planned.snapshot, planned.plan) : [];
    if (planned) this.#measure(name, planned, levels);
    else this.#options.measures.nodes(name, []);
    const { history, lastWave } = this.#remember(name, planned, levels, evicted);
    const budgets = planned === null ? [] : budgetViews(planned.snapshot);
    board.show(object, { decision, plan: planned?.plan ?? null, levels, lastWave, spec, budgets, history });
    const outcome = {
      reason: decision.reason,
      // A repeated decision has its first message, which may name a pod that is long ready.
      message: stop !== null && decision.reason === stop.reason ? stop.message : decision.message,
      dryRun,
      plan: planned?.plan ?? null,
      usageFault: planned?.usageFault ?? null,
      needsUsage: spec.basis === "usage",
      stateAvailable: state.available,
      landingTrusted: trusted,
      descheduler: deschedulerHolder,
      inFlight: planned?.snapshot.memory?.inFlight.length ?? 0,
      ...{ evicted, unclear },
      // One that was overtaken is planned again at once.
      failure: fault instanceof kubeErrors.ActOvertaken ? undefined : fault,
    };
    await statuses.write(object, (present) => statusAfter(present, outcome, generation, clock.now()), context.term);
    return { planned, fault };
  }

  /** Writes the statuses of guard rails, while other policies may plan already. */
  async #tell({ planned, fault }: Reported, { term }: ObjectContext): Promise<void> {
    const { guardRails, evictor } = this.#options;
    const record = evictor.isUnknown ? null : (evictor.record ?? NO_EVICTIONS);
    if (planned) await guardRails.report(planned.snapshot.cluster, planned.plan, record, term);
    // The statuses tell of evictions also where the wave ended early.
    if (fault !== undefined) throw fault;
  }

  #remember(name: string, planned: Planned | null, levels: readonly NodeLevel[], evicted: number) {
    const shown = this.#shown.get(name) ?? { history: new History(), lastWave: [] };
    this.#shown.set(name, shown);
    const sigma = planned?.plan.sigma;
    if (planned && sigma) {
      const { before, predicted, bound } = sigma;
      shown.history.add({ at: planned.snapshot.at, sigma: before, predicted, lowerBound: bound, evicted });
    }
    if (evicted > 0) shown.lastWave = levels;
    return shown;
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
    const { measures, metrics, evictor } = this.#options;
    measures.plan(name, plan);
    measures.nodes(name, levels);
    // A dry run plans as if nothing was evicted; what other policies evicted is spent all the same.
    const { lastHour = {} } = snapshot.memory ?? evictor.recallOf(name)(snapshot.cluster) ?? {};
    if (!evictor.isUnknown) measures.budgets(snapshot.cluster.slos, lastHour);
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
