import type { RebalancePolicyStatus } from "@evenkeel/api";
import { judge, type Judgement, type Nulled, setConditions } from "@evenkeel/kube";
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
  /** Pods that were evicted in this reconcile. */
  readonly evicted: number;
}

/** Reasons for which no plan can be made until something else changes. */
const FAULTS: ReadonlySet<PolicyReason> = new Set([
  ...(["InvalidPolicy", "NoUsage", "NothingKnown"] as const),
  ...(["StateAway", "StateLost", "ReplacementNotReady", "LandingUntrusted"] as const),
]);

export function isFault(reason: PolicyReason): boolean {
  return FAULTS.has(reason);
}

type PlanStatus = NonNullable<RebalancePolicyStatus["plan"]>;

/** The status after a reconcile; the present one if nothing in it changes. */
export function statusAfter(
  present: RebalancePolicyStatus = {},
  outcome: Outcome,
  generation: number,
  now: number,
): Nulled<RebalancePolicyStatus> {
  const conditions = setConditions(present.conditions ?? [], judgements(outcome, generation), now);
  const plan = planStatus(present.plan, outcome, now);
  const isSame = conditions === present.conditions && present.observedGeneration === generation;
  if (isSame && JSON.stringify(plan) === JSON.stringify(present.plan ?? null)) return present;
  return { observedGeneration: generation, plan: replacing(present.plan, plan), conditions };
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
  return isSame ? present : { observedGeneration: generation, plan: null, conditions };
}

function judgements(outcome: Outcome, generation: number): readonly Judgement[] {
  const { reason, message, plan, usageFault, needsUsage, stateAvailable, landingTrusted } = outcome;
  const judged = (type: string, holds: boolean | undefined, why: string, text: string) =>
    judge(type, holds, why, text, generation);
  const paused = plan === null;
  const moves = plan?.moves.length ?? 0;
  const isUseless = !paused && moves === 0 && plan.nodes.hot > 0;
  const isConverged = paused || isFault(reason) ? undefined : moves === 0 && !isUseless;
  const usage = usageFault ?? (needsUsage ? "Usage of nodes and pods is read" : "The basis is requests");
  return [
    judged("Ready", paused ? undefined : !isFault(reason), reason, message),
    judged("MetricsAvailable", usageFault === null, usageText(usageFault, needsUsage), usage),
    judged("Converged", isConverged, reason, message),
    judged("Blocked", paused ? undefined : isUseless, reason, isUseless ? blockedText(plan) : ""),
    judged("Paused", paused, paused ? "Annotation" : "NotPaused", paused ? message : ""),
    judged("LandingTrusted", landingTrusted, landingTrusted ? "Foreseen" : "LandingUntrusted", ""),
    judged("StateAvailable", stateAvailable, stateAvailable ? "Available" : "Away", ""),
  ];
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

/** Null removes what is stored: a plan that was made from another spec tells nothing. Paused, the last plan stays. */
function planStatus(present: PlanStatus | undefined, outcome: Outcome, now: number): PlanStatus | null {
  const { plan, dryRun, message, reason, evicted } = outcome;
  if (plan === null) return present ?? null;
  if (plan.sigma === null || reason === "InvalidPolicy") return null;
  const { before, predicted, bound } = plan.sigma;
  const lastExecutionTime = evicted > 0 ? new Date(now).toISOString() : present?.lastExecutionTime;
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

/** What is below a hundredth of a per cent is noise, and each change of the status is a write. */
function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/**
 * The next plan for a merge patch. The patch would keep a count of pods that is stored and not in it, so that each
 * reason which no longer holds any pod is removed by a null.
 */
function replacing(present: PlanStatus | undefined, next: PlanStatus | null): PlanStatus | null {
  if (next === null || present?.blocked === undefined) return next;
  const gone = Object.keys(present.blocked).filter((code) => !(code in (next.blocked ?? {})));
  const removed = Object.fromEntries(gone.map((code) => [code, null]));
  return { ...next, blocked: { ...next.blocked, ...(removed as unknown as Record<string, number>) } };
}
