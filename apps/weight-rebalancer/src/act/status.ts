import { isDeepStrictEqual } from "node:util";
import type { RebalanceStatus } from "@evenkeel/api";
import { judge, type Judgement, type Nulled, setConditions } from "@evenkeel/kube";
import { judgeFailure } from "@evenkeel/operator";
import { CodedError } from "@evenkeel/runtime";
import { type Memory, METRIC_FAULTS, type WeightSnapshot } from "../decide/snapshot.ts";
import type { WeightAction, WeightReason } from "../decide/weight-decider.ts";
import { type LastWrite, lastWriteOf } from "../last-write.ts";
import { faultsOf, type TargetOutcome } from "./carry-out.ts";
import type { Reverted } from "./revert.ts";

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
  /** What the next decision depends on. */
  readonly memory: Memory;
  /** The results for targets that the spec no longer names. */
  readonly reverts?: readonly Reverted[];
}

/** The condition that is True while a target does not have its initial weight again, though it should. */
export const REVERT_PENDING = "RevertPending";

const TARGET_SYNCED = "TargetSynced";

/** The reason of TargetSynced while an accepted change is not in effect everywhere. */
const PENDING = "Pending";

/** What an operator can do who does not want to wait. */
export const RELEASE_HINT =
  "To delete the object without it, remove the finalizer evenkeel.io/revert-weight and set the weight by hand.";

type InitialWeight = NonNullable<RebalanceStatus["initialWeights"]>[number];

/** Reasons for which a Rebalance cannot work until something else changes. */
const FAULTS: ReadonlySet<WeightReason> = new Set([
  ...METRIC_FAULTS,
  "TargetUnknown",
  "AllZero",
  "OriginalRuns",
  "Conflict",
]);

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
 * The status after a reconcile. It is the same object if nothing changed, so that nothing is written. `lastUpdateAt`
 * says when it was last written, and does not count as a change. `initialWeights` is absent, so that it stays as it is
 * stored.
 */
export function statusAfter(before: RebalanceStatus | undefined, outcome: Outcome, now: number): RebalanceStatus {
  const { snapshot, decision, targets, memory } = outcome;
  const desired = decision.after ?? before?.desiredValue;
  const actual = targets[0]?.actual ?? undefined;
  const { generation } = snapshot.rebalance;
  const values = { condition: conditionWord(outcome), desired, actual, lastWrite: lastWriteOf(memory) };
  const judged = [...judgements(outcome, generation), ...revertJudgements(outcome.reverts ?? [], generation)];
  return updated(before, values, judged, now);
}

/** The status after an accepted change is in effect everywhere. It is the same object if the status waits for none. */
export function statusInSync(
  status: RebalanceStatus | undefined,
  generation: number,
  now: number,
): RebalanceStatus | undefined {
  const { conditions = [] } = status ?? {};
  const isWaiting = conditions.some(({ type, reason }) => type === TARGET_SYNCED && reason === PENDING);
  if (status === undefined || !isWaiting) return status;
  return { ...status, conditions: setConditions(conditions, [inSync(generation)], now) };
}

function inSync(generation: number): Judgement {
  return judge(TARGET_SYNCED, true, "InSync", "The target has the desired weight", generation);
}

/** The status of a deleted Rebalance that waits until its targets are reverted. */
export function statusOfRelease(
  before: RebalanceStatus | undefined,
  results: readonly Reverted[],
  generation: number,
  now: number,
): RebalanceStatus {
  const [pending] = revertJudgements(results, generation);
  const message = `The deletion waits: ${pending?.message ?? ""}. ${RELEASE_HINT}`;
  const ready = judge("Ready", false, REVERT_PENDING, message, generation);
  return withoutReverted(withFault(before, pending ? [ready, pending] : [ready], now), results, before);
}

/** The status without the initial weights of targets that are not retried. */
export function withoutReverted(
  status: RebalanceStatus,
  results: readonly Reverted[],
  { initialWeights = [] }: RebalanceStatus = status,
): RebalanceStatus {
  const done = new Set(results.flatMap(({ name, outcome }) => (outcome === "waiting" ? [] : [name])));
  const left = initialWeights.filter(({ target }) => !done.has(target));
  return left.length === initialWeights.length ? status : { ...status, initialWeights: left };
}

/** Nothing if there was nothing to revert: then the condition stays as it is. */
function revertJudgements(results: readonly Reverted[], generation: number): readonly Judgement[] {
  const of = (wanted: Reverted["outcome"]) => results.filter(({ outcome }) => outcome === wanted);
  const text = (some: readonly Reverted[]) => some.map(({ message }) => message).join("; ");
  const [waiting, abandoned] = [of("waiting"), of("abandoned")];
  const judged = (holds: boolean, reason: string, message: string) => [
    judge(REVERT_PENDING, holds, reason, message, generation),
  ];
  if (waiting[0]) return judged(true, waiting[0].reason ?? reasonOf(waiting[0].error), text(waiting));
  if (abandoned.length > 0) return judged(false, "Abandoned", text(abandoned));
  return results.length > 0 ? judged(false, "Reverted", text(results)) : [];
}

/** The status of a Rebalance with an invalid spec. */
export function statusOfInvalid(
  before: RebalanceStatus | undefined,
  errors: readonly string[],
  observedGeneration: number,
  now: number,
): RebalanceStatus {
  const ready = judge("Ready", false, "InvalidSpec", errors.join("; "), observedGeneration);
  return withFault(before, [ready], now);
}

/** The status after a reconcile that failed: all conditions but Ready stay. */
export function statusAfterFailure(
  before: RebalanceStatus | undefined,
  error: unknown,
  generation: number,
  now: number,
): RebalanceStatus {
  return withFault(before, [judgeFailure(error, generation)], now);
}

/** The status of an object that is not ready, with the weights as they were last seen. */
function withFault(before: RebalanceStatus | undefined, judged: readonly Judgement[], now: number): RebalanceStatus {
  const { desiredValue: desired, actualValue: actual, lastWrite } = before ?? {};
  return updated(before, { condition: "Error", desired, actual, lastWrite }, judged, now);
}

/**
 * The word of the original, misspelt as scripts of its users expect it. A reconcile that failed is an error, whatever
 * the weights are.
 */
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
  if (faults !== undefined) return judged(TARGET_SYNCED, false, reasonOf(error), faults);
  if (!isInStep(outcome)) {
    const [reason, why] = decision.dryRun
      ? ["DryRun", "a dry run writes nothing"]
      : [decision.reason, decision.message];
    return judged(TARGET_SYNCED, false, reason, `The target does not have the desired weight: ${why}`);
  }
  return targets.some(({ pending }) => pending)
    ? judged(TARGET_SYNCED, undefined, PENDING, "The change is accepted and not in effect everywhere yet")
    : inSync(outcome.snapshot.rebalance.generation);
}

/** `EK_WEIGHT_ROUTE53_NO_RECORD` → `Route53NoRecord`: the code as one CamelCase word, for a condition. */
function reasonOf(error: unknown): string {
  if (!(error instanceof CodedError)) return "Failed";
  const words = error.code.replace(/^EK_(WEIGHT_)?/, "").split("_");
  return words.map((word) => word.charAt(0) + word.slice(1).toLowerCase()).join("");
}

/** As many as the schema allows. */
const MOST_INITIAL_WEIGHTS = 32;

/**
 * Adds the weights of targets that have no initial weight yet, and how each target is reached now. It is the same
 * object if nothing changes.
 */
export function withInitialWeights(
  before: RebalanceStatus | undefined,
  weights: readonly InitialWeight[],
): RebalanceStatus | undefined {
  const known = before?.initialWeights ?? [];
  const present = new Map(weights.map(({ target, spec }) => [target, spec]));
  const fresh = weights.filter(({ target }) => !known.some((initial) => initial.target === target));
  const kept = known.map((initial) => {
    const spec = present.get(initial.target);
    return spec === undefined ? initial : { ...initial, spec };
  });
  if (fresh.length === 0 && isDeepStrictEqual(kept, known)) return before;
  // The oldest are dropped first; a spec has at most half as many targets.
  const initialWeights = [...kept, ...fresh].slice(-MOST_INITIAL_WEIGHTS);
  return { ...(before ?? { condition: "Unhealthy" }), initialWeights };
}

/** The status to write: what is unknown is removed from what is stored. */
export function withoutUnknown(status: RebalanceStatus): Nulled<RebalanceStatus> {
  const { lastWrite } = status;
  return {
    desiredValue: null,
    actualValue: null,
    ...status,
    ...(lastWrite && {
      lastWrite: { weight: null, changedAt: null, raisedAt: null, generation: null, unwritten: null, ...lastWrite },
    }),
  };
}

/** The status before a write: until the answer is there, the weight that was last written is unknown. */
export function withUnknownWeight(status: RebalanceStatus | undefined): RebalanceStatus | undefined {
  if (status?.lastWrite?.weight === undefined) return status;
  const lastWrite = { ...status.lastWrite };
  delete lastWrite.weight;
  return { ...status, lastWrite };
}

interface UpdatedValues {
  readonly condition: string;
  readonly desired: number | undefined;
  readonly actual: number | undefined;
  readonly lastWrite: LastWrite | undefined;
}

function updated(
  before: RebalanceStatus | undefined,
  { condition, desired, actual, lastWrite }: UpdatedValues,
  judged: readonly Judgement[],
  now: number,
): RebalanceStatus {
  const conditions = setConditions(before?.conditions ?? [], judged, now);
  const same =
    before?.condition === condition &&
    before.desiredValue === desired &&
    before.actualValue === actual &&
    isDeepStrictEqual(before.lastWrite ?? {}, lastWrite ?? {}) &&
    before.conditions === conditions;
  if (same) return before;
  return {
    condition,
    ...(desired === undefined ? {} : { desiredValue: desired }),
    ...(actual === undefined ? {} : { actualValue: actual }),
    lastUpdateAt: new Date(now).toISOString(),
    ...(lastWrite === undefined ? {} : { lastWrite }),
    conditions,
  };
}
