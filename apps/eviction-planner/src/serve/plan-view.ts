import type { RebalancePolicySpec } from "@evenkeel/api";
import { type ObjectBoard, type ObjectView, objectView } from "@evenkeel/operator";
import type { Decision } from "@evenkeel/runtime";
import type { Plan, PodName } from "../decide/answer.ts";
import { OBSTACLES } from "../decide/obstacles.ts";
import type { NodeLevel } from "../observe/node-levels.ts";
import type { StoredPolicy } from "../policy-resource.ts";

/** What a reconcile shows of a policy. */
export interface ShownPolicy {
  readonly decision: Decision;
  readonly plan: Plan | null;
  readonly levels: readonly NodeLevel[];
  readonly spec: Pick<RebalancePolicySpec, "hotThreshold">;
}

export type PolicyBoard = ObjectBoard<StoredPolicy, ShownPolicy, ObjectView>;

/** Rows beyond these are counted. A reader follows the view live, so that it stays small in clusters of any size. */
const MOST_NODES = 50;
const MOST_MOVES = 100;
const MOST_LANDINGS = 3;

/** A policy as readers see it; on the leader with its last plan as `value`. */
export function policyView(object: StoredPolicy, shown?: ShownPolicy): ObjectView {
  const view = objectView(object, shown?.decision);
  const value = shown?.plan?.sigma ? planView(shown.plan, shown) : undefined;
  return { ...view, value };
}

function planView(plan: Plan, { levels, spec }: Pick<ShownPolicy, "levels" | "spec">) {
  const { sigma, nodes, moves } = plan;
  return {
    sigma: sigma?.before ?? null,
    predicted: sigma?.predicted ?? null,
    lowerBound: sigma?.bound ?? null,
    hotNodes: nodes.hot,
    coldNodes: nodes.cold,
    nodes: levels
      .toSorted((one, other) => (other.now ?? -1) - (one.now ?? -1))
      .slice(0, MOST_NODES)
      .map(({ name, now, predicted }) => ({ name, now, predicted })),
    nodeCount: levels.length,
    hotThreshold: spec.hotThreshold,
    moves: moves.slice(0, MOST_MOVES).map(({ pod, from, landings, deltaSigma }) => ({
      pod: podText(pod),
      workload: pod.workload === null ? "" : `${pod.workload.kind} ${pod.workload.name}`,
      from,
      landings: landings.slice(0, MOST_LANDINGS),
      gain: -deltaSigma,
    })),
    moveCount: moves.length,
    stays: staysByCode(plan),
  };
}

/** Pods of hot nodes that stay, by code; the code with the most pods first. */
function staysByCode({ stays }: Plan) {
  const byCode = Map.groupBy(stays, ({ code }) => code);
  return [...byCode]
    .map(([code, held]) => ({
      reason: code,
      sentence: OBSTACLES[code],
      pods: held.length,
      example: held[0] === undefined ? "" : podText(held[0].pod),
    }))
    .sort((one, other) => other.pods - one.pods);
}

function podText({ namespace, name }: PodName): string {
  return `${namespace}/${name}`;
}
