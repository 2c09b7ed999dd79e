import { parseRebalance } from "@evenkeel/api";
import { isPaused } from "@evenkeel/kube";
import type { ObjectBoard } from "@evenkeel/operator";
import type { weightsV1 } from "@evenkeel/rpc";
import type { Outcome } from "../act/status.ts";
import { shareOf } from "../decide/share.ts";
import { metricOf } from "../observe/metric-value.ts";
import type { StoredRebalance } from "../rebalance-resource.ts";
import { History } from "./history.ts";

export type Weight = weightsV1.DeepPartial<weightsV1.Weight>;

/** What the leader knows of a Rebalance. Other replicas have only its status. */
export interface Shown {
  readonly outcome: ShownOutcome;
  readonly history: History;
}

export type ShownOutcome = Outcome & { readonly decision: { readonly at: string } };

export type WeightBoard = ObjectBoard<StoredRebalance, Shown, Weight>;

/** What is shown after a reconcile: its outcome, and the history with one more point. */
export function shownAfter(before: Shown | undefined, outcome: ShownOutcome): Shown {
  const { snapshot, decision, targets } = outcome;
  const [first] = snapshot.targets;
  const actual = targets[0]?.actual ?? null;
  const history = before?.history ?? new History();
  history.add({
    at: Date.parse(snapshot.at),
    metric: metricOf(snapshot),
    target: snapshot.policy.targetValue,
    desired: decision.after,
    actual,
    share: first ? shareOf({ weight: actual, others: first.others }) : null,
  });
  return { outcome, history };
}

/** A Rebalance as readers see it. If its spec is invalid, its status says so and it has no weight. */
export function weightOf(object: StoredRebalance, shown: Shown | undefined): Weight {
  const { metadata, status } = object;
  const parsed = parseRebalance(object);
  const policy = parsed.ok ? parsed.value.spec.policy.targettracking : undefined;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const outcome = shown?.outcome;
  const metric = outcome && metricOf(outcome.snapshot);
  const desired = outcome?.decision.after ?? status?.desiredValue;
  return {
    rebalance: { namespace: metadata.namespace ?? "", name: metadata.name ?? "" },
    ...(metric === null || metric === undefined ? {} : { metric }),
    targetValue: policy?.targetValue ?? 0,
    ...(desired === undefined ? {} : { desired: BigInt(desired) }),
    targets: targetsOf(status, outcome),
    reason: outcome?.decision.reason ?? ready?.reason ?? "",
    message: outcome?.decision.message ?? ready?.message ?? "",
    decidedAt: outcome?.decision.at ?? status?.lastUpdateAt,
    dryRun: outcome?.decision.dryRun ?? (parsed.ok && parsed.value.spec.dryRun),
    paused: (parsed.ok && parsed.value.spec.suspend === true) || isPaused(object),
    conditions: (status?.conditions ?? []).map(({ lastTransitionTime, type, status, reason, message }) => {
      return { type, status, reason, message, since: lastTransitionTime };
    }),
    baseValue: BigInt(policy?.baseValue ?? 0),
    minimum: BigInt(policy?.minimum ?? 0),
    maximum: BigInt(policy?.maximum ?? greatest(outcome)),
  };
}

function greatest(outcome: Outcome | undefined): number {
  return Math.max(0, ...(outcome?.snapshot.targets.map(({ maximum }) => maximum) ?? [255]));
}

function targetsOf(status: StoredRebalance["status"], outcome: Outcome | undefined): NonNullable<Weight["targets"]> {
  if (!outcome) return status?.actualValue === undefined ? [] : [{ name: "", actual: BigInt(status.actualValue) }];
  return outcome.targets.map(({ target, actual }, index) => {
    const others = outcome.snapshot.targets[index]?.others ?? [];
    const share = shareOf({ weight: actual, others });
    return {
      name: target.name,
      ...(actual === null ? {} : { actual: BigInt(actual) }),
      ...(share === null ? {} : { share }),
    };
  });
}
