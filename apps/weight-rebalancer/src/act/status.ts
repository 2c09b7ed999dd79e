import type { RebalanceStatus } from "@evenkeel/api";
import { type Judgement, setConditions } from "@evenkeel/kube";
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

/** Reasons for which a Rebalance cannot do its work until somebody or something else changes. */
const FAULTS: ReadonlySet<WeightReason> = new Set([...METRIC_FAULTS, "TargetUnknown", "AllZero", "OriginalRuns"]);

/** Codes by which a target says that it takes no more for now. */
const THROTTLES = new Set(["EK_WEIGHT_ROUTE53_THROTTLED", "EK_WEIGHT_ROUTE53_BUSY"]);

/** Whether somebody should look at it. */
export function isBadNews({ reason }: { readonly reason: string }): boolean {
  return FAULTS.has(reason as WeightReason);
}

/** Whether the decision, or carrying it out, was kept from happening. */
export function isFault({ decision, targets }: Pick<Outcome, "decision" | "targets">): boolean {
  return FAULTS.has(decision.reason) || targets.some(({ error }) => error !== undefined);
}

/** Whether every target has the decided weight. */
export function isInStep({ targets }: Pick<Outcome, "targets">): boolean {
  return targets.every(({ actual, wanted }) => actual !== null && actual === wanted);
}

/**
 * The status after a reconcile. It is the same object if nothing changed, so that nothing is written. `lastUpdateAt` says when
 * it was last written, and does not count as a change.
 */
export function statusAfter(before: RebalanceStatus | undefined, outcome: Outcome, now: number): RebalanceStatus {
  const { snapshot, decision, targets } = outcome;
  const desired = decision.after ?? before?.desiredValue;
  const actual = targets[0]?.actual ?? undefined;
  const { generation } = snapshot.rebalance;
  return updated(before, { condition: conditionWord(outcome), desired, actual }, judgements(outcome, generation), now);
}

/** The status of a Rebalance whose spec cannot be understood. */
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

/** The original's word, misspelt as its users' scripts expect it. A reconcile that failed is an error, whatever the weights are. */
function conditionWord(outcome: Outcome): string {
  if (isFault(outcome)) return "Error";
  if (isInStep(outcome)) return "Healty";
  return outcome.decision.dryRun || outcome.decision.action === "hold" ? "Unhealthy" : "Error";
}

function judgements(outcome: Outcome, observedGeneration: number): readonly Judgement[] {
  const { snapshot, decision, targets } = outcome;
  const judge = (type: string, holds: boolean | undefined, reason: string, message: string): Judgement => {
    const status = holds === undefined ? "Unknown" : holds ? "True" : "False";
    return { type, status, reason, message: message.slice(0, 2000), observedGeneration };
  };
  const { blocked, metrics } = snapshot;
  const faults = faultsOf(targets);
  const paused = blocked?.reason === "Paused";
  const failed = targets.find(({ error }) => error !== undefined);
  const throttled = targets.find(({ error }) => error instanceof CodedError && THROTTLES.has(error.code));
  const fault = metrics.find((metric) => metric.fault !== null);
  return [
    failed && faults !== undefined && !FAULTS.has(decision.reason)
      ? judge("Ready", false, reasonOf(failed.error), faults)
      : judge("Ready", paused ? undefined : !isFault(outcome), decision.reason, decision.message),
    fault?.fault
      ? judge("MetricsAvailable", false, fault.fault, `${fault.source}: ${fault.message}`)
      : judge("MetricsAvailable", true, "Read", "Every metric has a value"),
    targetSynced(outcome, judge, failed?.error, faults),
    throttled
      ? judge(
          "Throttled",
          true,
          reasonOf(throttled.error),
          `${throttled.target.name} is written later: ${faults ?? ""}`,
        )
      : judge("Throttled", false, "NotThrottled", "Changes are taken as they come"),
    paused
      ? judge("Paused", true, "Asked", blocked.message)
      : judge("Paused", false, "NotAsked", "Nobody asked for a pause"),
  ];
}

function targetSynced(
  outcome: Outcome,
  judge: (type: string, holds: boolean | undefined, reason: string, message: string) => Judgement,
  error: unknown,
  faults: string | undefined,
): Judgement {
  const { decision, targets } = outcome;
  if (faults !== undefined) return judge("TargetSynced", false, reasonOf(error), faults);
  if (!isInStep(outcome)) {
    const [reason, why] = decision.dryRun
      ? ["DryRun", "a dry run writes nothing"]
      : [decision.reason, decision.message];
    return judge("TargetSynced", false, reason, `The target does not have the desired weight: ${why}`);
  }
  return targets.some(({ pending }) => pending)
    ? judge("TargetSynced", undefined, "Pending", "The change is accepted and not in effect everywhere yet")
    : judge("TargetSynced", true, "InSync", "The target has the desired weight");
}

/** `EK_WEIGHT_ROUTE53_NO_RECORD` → `Route53NoRecord`: what people see of a code where one CamelCase word is asked for. */
function reasonOf(error: unknown): string {
  if (!(error instanceof CodedError)) return "Failed";
  const words = error.code.replace(/^EK_(WEIGHT_)?/, "").split("_");
  return words.map((word) => word.charAt(0) + word.slice(1).toLowerCase()).join("");
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
    ...(before?.initialWeights ? { initialWeights: before.initialWeights } : {}),
    conditions,
  };
}
