import type { RebalanceStatus } from "@evenkeel/api";
import { judge, type Judgement, type Nulled, setConditions } from "@evenkeel/kube";
import { CodedError } from "@evenkeel/runtime";
import { METRIC_FAULTS, type WeightSnapshot } from "../decide/snapshot.ts";
import type { WeightAction, WeightReason } from "../decide/weight-decider.ts";
import { faultsOf, type TargetOutcome } from "./carry-out.ts";

/** The result of one reconcile, as far as the status shows it. */
export interface Outcome {
  readonly snapshot: WeightSnapshot;
  readonly decision: {
    readonly action: WeightAction;
    readonly reason: WeightReason;
    readonly after: number | null;
    readonly message: string;
    readonly dryRun: boolean;
  };
  readonly targets: readonly TargetOutcome[];
}

type InitialWeight = NonNullable<RebalanceStatus["initialWeights"]>[number];

/** Reasons for which a Rebalance cannot work until something else changes. */
const FAULTS: ReadonlySet<WeightReason> = new Set([...METRIC_FAULTS, "TargetUnknown", "AllZero", "OriginalRuns"]);

/** Codes of targets that refuse requests for a while. */
const THROTTLES = new Set(["EK_WEIGHT_ROUTE53_THROTTLED", "EK_WEIGHT_ROUTE53_BUSY"]);

/** Whether a decision is a warning. */
export function isWarning({ reason }: { readonly reason: string }): boolean {
  return FAULTS.has(reason as WeightReason);
}

/** Whether the decision or a write failed. */
export function isFault({ decision, targets }: Pick<Outcome, "decision" | "targets">): boolean {
  return FAULTS.has(decision.reason) || targets.some(({ error }) => error !== undefined);
}

/** Whether every target has the decided weight. */
export function isInStep({ targets }: Pick<Outcome, "targets">): boolean {
  return targets.every(({ actual, wanted }) => actual !== null && actual === wanted);
}

/**
 * The status after a reconcile. It is the same object if nothing changed, so that nothing is written. `lastUpdateAt` says when
 * it was last written, and does not count as a change. `initialWeights` is absent, so that it stays as it is stored.
 */
export function statusAfter(before: RebalanceStatus | undefined, outcome: Outcome, now: number): RebalanceStatus {
  const { snapshot, decision, targets } = outcome;
  const desired = decision.after ?? before?.desiredValue;
  const actual = targets[0]?.actual ?? undefined;
  const { generation } = snapshot.rebalance;
  return updated(before, { condition: conditionWord(outcome), desired, actual }, judgements(outcome, generation), now);
}

/** The status of a Rebalance with an invalid spec. */
export function statusOfInvalid(
  before: RebalanceStatus | undefined,
  errors: readonly string[],
  observedGeneration: number,
  now: number,
): RebalanceStatus {
  const about = { reason: "InvalidSpec", message: errors.join("; "), observedGeneration };
  const values = { condition: "Error", desired: before?.desiredValue, actual: before?.actualValue };
  return updated(before, values, [{ type: "Ready", status: "False", ...about }], now);
}

/** The word of the original, misspelt as scripts of its users expect it. A reconcile that failed is an error, whatever the weights are. */
function conditionWord(outcome: Outcome): string {
  if (isFault(outcome)) return "Error";
  if (isInStep(outcome)) return "Healty";
  return outcome.decision.dryRun || outcome.decision.action === "hold" ? "Unhealthy" : "Error";
}

function judgements(outcome: Outcome, observedGeneration: number): readonly Judgement[] {
  const { snapshot, decision, targets } = outcome;
  const judged = (type: string, holds: boolean | undefined, reason: string, message: string) =>
    judge(type, holds, reason, message, observedGeneration);
  const { blocked, metrics } = snapshot;
  const faults = faultsOf(targets);
  const paused = blocked?.reason === "Paused";
  const failed = targets.find(({ error }) => error !== undefined);
  const throttled = targets.find(({ error }) => error instanceof CodedError && THROTTLES.has(error.code));
  const fault = metrics.find((metric) => metric.fault !== null);
  return [
    failed && faults !== undefined && !FAULTS.has(decision.reason)
      ? judged("Ready", false, reasonOf(failed.error), faults)
      : judged("Ready", paused ? undefined : !isFault(outcome), decision.reason, decision.message),
    fault?.fault
      ? judged("MetricsAvailable", false, fault.fault, `${fault.source}: ${fault.message}`)
      : judged("MetricsAvailable", true, "Read", "Every metric has a value"),
    targetSynced(outcome, judged, failed?.error, faults),
    throttled
      ? judged(
          "Throttled",
          true,
          reasonOf(throttled.error),
          `Writing ${throttled.target.name} is delayed: ${faults ?? ""}`,
        )
      : judged("Throttled", false, "NotThrottled", "The target accepts changes"),
    paused
      ? judged("Paused", true, "Asked", blocked.message)
      : judged("Paused", false, "NotAsked", "The Rebalance is not paused"),
  ];
}

function targetSynced(
  outcome: Outcome,
  judged: (type: string, holds: boolean | undefined, reason: string, message: string) => Judgement,
  error: unknown,
  faults: string | undefined,
): Judgement {
  const { decision, targets } = outcome;
  if (faults !== undefined) return judged("TargetSynced", false, reasonOf(error), faults);
  if (!isInStep(outcome)) {
    const [reason, why] = decision.dryRun
      ? ["DryRun", "a dry run writes nothing"]
      : [decision.reason, decision.message];
    return judged("TargetSynced", false, reason, `The target does not have the desired weight: ${why}`);
  }
  return targets.some(({ pending }) => pending)
    ? judged("TargetSynced", undefined, "Pending", "The change is accepted and not in effect everywhere yet")
    : judged("TargetSynced", true, "InSync", "The target has the desired weight");
}

/** `EK_WEIGHT_ROUTE53_NO_RECORD` → `Route53NoRecord`: the code as one CamelCase word, for a condition. */
function reasonOf(error: unknown): string {
  if (!(error instanceof CodedError)) return "Failed";
  const words = error.code.replace(/^EK_(WEIGHT_)?/, "").split("_");
  return words.map((word) => word.charAt(0) + word.slice(1).toLowerCase()).join("");
}

/** Adds the weights of targets that have no initial weight yet. It is the same object if there are none. */
export function withInitialWeights(
  before: RebalanceStatus | undefined,
  weights: readonly InitialWeight[],
): RebalanceStatus | undefined {
  const known = before?.initialWeights ?? [];
  const fresh = weights.filter(({ target }) => !known.some((initial) => initial.target === target));
  if (fresh.length === 0) return before;
  return { ...(before ?? { condition: "Unhealthy" }), initialWeights: [...known, ...fresh] };
}

/** The status to write: a weight that is unknown is removed from what is stored. */
export function withoutUnknown(status: RebalanceStatus): Nulled<RebalanceStatus> {
  return { desiredValue: null, actualValue: null, ...status };
}

function updated(
  before: RebalanceStatus | undefined,
  { condition, desired, actual }: { condition: string; desired: number | undefined; actual: number | undefined },
  judged: readonly Judgement[],
  now: number,
): RebalanceStatus {
  const conditions = setConditions(before?.conditions ?? [], judged, now);
  const same =
    before?.condition === condition &&
    before.desiredValue === desired &&
    before.actualValue === actual &&
    before.conditions === conditions;
  if (same) return before;
  return {
    condition,
    ...(desired === undefined ? {} : { desiredValue: desired }),
    ...(actual === undefined ? {} : { actualValue: actual }),
    lastUpdateAt: new Date(now).toISOString(),
    conditions,
  };
}
