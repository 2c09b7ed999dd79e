import type { RebalancePolicyStatus } from "@evenkeel/api";
import { judge, type Judgement, type Nulled, setConditions } from "@evenkeel/kube";
import { judgeFailure } from "@evenkeel/operator";
import type { Plan } from "../decide/answer.ts";
import type { PolicyReason } from "../decide/policy-decider.ts";

/** What one reconcile came to, as far as the status shows it. */
export interface Outcome {
  readonly reason: PolicyReason;
  readonly message: string;
  readonly dryRun: boolean;
  /** Null while paused. */
  readonly plan: Plan | null;
  /** Why usage could not be read; null if it could, or is not needed. */
  readonly usageFault: string | null;
  readonly needsUsage: boolean;
  readonly stateAvailable: boolean;
  /** Whether enough of the last landings were foreseen. */
  readonly landingTrusted: boolean;
  /** Who holds the live Lease of descheduler; null if nobody does. */
  readonly descheduler: string | null;
  /** Pods that were evicted in this reconcile. */
  readonly evicted: number;
  /** Pods that may have been evicted: the answer was lost. */
  readonly unclear: number;
  /** Earlier evictions whose replacement is not ready yet. */
  readonly inFlight: number;
  /** What ended the wave early; undefined if nothing did. */
  readonly failure: Error | undefined;
}

/** Reasons for which no plan can be made until something else changes. */
const FAULTS: ReadonlySet<PolicyReason> = new Set([
  ...(["InvalidPolicy", "NoUsage", "NothingKnown"] as const),
  ...(["StateAway", "StateLost", "ReplacementNotReady", "LandingUntrusted", "ForecastMissed"] as const),
]);

export function isFault(reason: PolicyReason): boolean {
  return FAULTS.has(reason);
}

type PlanStatus = NonNullable<RebalancePolicyStatus["plan"]>;

/**
 * When pods were last evicted, as far as the status tells. The original writes the time of each reconcile, dry runs
 * included; its status has no conditions.
 */
export function lastExecutionOf({ conditions, plan }: RebalancePolicyStatus = {}): string | undefined {
  return conditions === undefined ? undefined : plan?.lastExecutionTime;
}

/** The status after a reconcile; the present one if nothing in it changes. */
export function statusAfter(
  present: RebalancePolicyStatus = {},
  outcome: Outcome,
  generation: number,
  now: number,
): Nulled<RebalancePolicyStatus> {
  const conditions = setConditions(present.conditions ?? [], judgements(outcome, generation), now);
  const plan = planStatus(present, outcome, now);
  const isSame = conditions === present.conditions && present.observedGeneration === generation;
  if (isSame && textOf(plan) === textOf(present.plan ?? null)) return present;
  return { observedGeneration: generation, plan: replacing(present.plan, plan), conditions };
}

/** The API server stores keys in an order of its own. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each !== "object" || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}

/** The status of a policy whose spec does not have the right types. */
export function statusOfInvalid(
  present: RebalancePolicyStatus = {},
  errors: readonly string[],
  generation: number,
  now: number,
): Nulled<RebalancePolicyStatus> {
  const judged = judge("Ready", false, "InvalidPolicy", errors.join("; "), generation);
  const conditions = setConditions(present.conditions ?? [], [judged], now);
  const isSame = conditions === present.conditions && present.observedGeneration === generation;
  const plan = replacing(present.plan, onlyTime(lastExecutionOf(present)));
  return isSame ? present : { observedGeneration: generation, plan, conditions };
}

/** The status after a reconcile that failed: all but the condition Ready stays, with the generation that it is of. */
export function statusAfterFailure(
  present: RebalancePolicyStatus = {},
  error: unknown,
  generation: number,
  now: number,
): Nulled<RebalancePolicyStatus> {
  const conditions = setConditions(present.conditions ?? [], [judgeFailure(error, generation)], now);
  // The plan of the original would later count as one of this service.
  const isOfOriginal = present.conditions === undefined && present.plan !== undefined;
  return conditions === present.conditions ? present : { ...(isOfOriginal && { plan: null }), conditions };
}

function judgements(outcome: Outcome, generation: number): readonly Judgement[] {
  const { reason, message, plan, usageFault, needsUsage, stateAvailable, landingTrusted, descheduler, failure } =
    outcome;
  const judged = (type: string, holds: boolean | undefined, why: string, text: string) =>
    judge(type, holds, why, text, generation);
  const paused = plan === null;
  const moves = plan?.moves.length ?? 0;
  const waiting = moves === 0 ? waitingFor(outcome) : null;
  const isUseless = !paused && moves === 0 && waiting === null && plan.nodes.hot > 0;
  const isConverged = paused || isFault(reason) ? undefined : moves === 0 && waiting === null && !isUseless;
  const usage = usageFault ?? (needsUsage ? "Usage of nodes and pods is read" : "The basis is requests");
  return [
    failure === undefined
      ? judged("Ready", paused ? undefined : !isFault(reason), reason, message)
      : judgeFailure(failure, generation),
    judged("MetricsAvailable", usageFault === null, usageText(usageFault, needsUsage), usage),
    judged("Converged", isConverged, ...(isConverged === false && waiting ? waiting : ([reason, message] as const))),
    judged("Blocked", paused ? undefined : isUseless, reason, isUseless ? blockedText(plan) : ""),
    judged("Paused", paused, paused ? "Annotation" : "NotPaused", paused ? message : ""),
    judged("LandingTrusted", landingTrusted, landingTrusted ? "Foreseen" : "LandingUntrusted", ""),
    judged("StateAvailable", stateAvailable, stateAvailable ? "Available" : "Away", ""),
    judged(
      ...(["DeschedulerRuns", descheduler !== null, descheduler === null ? "NoLease" : "LeaseRenewed"] as const),
      descheduler === null ? "" : `${descheduler} is active: let only one of the two balance load`,
    ),
  ];
}

/**
 * The reason and the message if there is nothing to evict now, and there may be later without any change of the
 * cluster.
 */
function waitingFor({ plan, inFlight }: Outcome): readonly [string, string] | null {
  if (inFlight > 0) return ["ReplacementsInFlight", `Replacements of evicted pods that are not ready yet: ${inFlight}`];
  const left = plan?.underWay?.pods.length ?? 0;
  return left === 0 ? null : ["PlanUnderWay", `Pods that go in a later wave of the plan: ${left}`];
}

function usageText(usageFault: string | null, needsUsage: boolean): string {
  if (usageFault !== null) return "NoUsage";
  return needsUsage ? "Read" : "NotNeeded";
}

/** The commonest reasons first: `DisruptionBudget 12, Pinned 3`. */
function blockedText(plan: Plan): string {
  const counts = Object.entries(blockedBy(plan)).sort(([, one], [, other]) => other - one);
  return `Pods of hot nodes stay: ${counts.map(([code, count]) => `${code} ${count}`).join(", ")}`;
}

/** How many pods of hot nodes stay, by code, in the order of the codes. */
export function blockedBy({ stays }: Plan): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { code } of stays) counts.set(code, (counts.get(code) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * A plan that was made from another spec tells nothing, and only the time of the last eviction stays: by it a loss of
 * the record is noticed. Paused, the last plan stays. Null removes what is stored.
 */
function planStatus(present: RebalancePolicyStatus, outcome: Outcome, now: number): PlanStatus | null {
  const { plan, dryRun, message, reason, evicted, unclear } = outcome;
  if (plan === null) return present.conditions === undefined ? null : (present.plan ?? null);
  const lastExecutionTime = evicted + unclear > 0 ? new Date(now).toISOString() : lastExecutionOf(present);
  if (plan.sigma === null || reason === "InvalidPolicy") return onlyTime(lastExecutionTime);
  const { before, predicted, bound } = plan.sigma;
  return {
    hotNodes: plan.nodes.hot,
    coldNodes: plan.nodes.cold,
    variance: rounded(before * before),
    sigma: rounded(before),
    predicted: rounded(predicted),
    lowerBound: rounded(bound),
    evictionsPlanned: plan.moves.length,
    evictionsExecuted: evicted,
    ...(lastExecutionTime !== undefined && { lastExecutionTime }),
    dryRun,
    blocked: blockedBy(plan),
    message,
  };
}

function onlyTime(lastExecutionTime: string | undefined): PlanStatus | null {
  return lastExecutionTime === undefined ? null : { lastExecutionTime };
}

/** What is below a hundredth of a per cent is noise, and each change of the status is a write. */
function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/**
 * The next plan for a merge patch. The patch would keep what is stored and not in it, so that each field, and each
 * reason which no longer holds any pod, is removed by a null.
 */
function replacing(present: PlanStatus = {}, next: PlanStatus | null): Nulled<PlanStatus> | null {
  if (next === null) return null;
  const blocked = next.blocked && { ...removedFrom(present.blocked ?? {}, next.blocked), ...next.blocked };
  return { ...removedFrom(present, next), ...next, ...(blocked && { blocked: blocked as Record<string, number> }) };
}

/** A null for each field that is stored and not in what follows. */
function removedFrom(present: object, next: object): Readonly<Record<string, null>> {
  const gone = Object.keys(present).filter((field) => !(field in next));
  return Object.fromEntries(gone.map((field) => [field, null]));
}
