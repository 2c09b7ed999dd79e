import type { RebalancePolicySpec } from "@evenkeel/api";
import { type ObjectBoard, objectView } from "@evenkeel/operator";
import type { evictionsV1 } from "@evenkeel/rpc";
import type { Decision } from "@evenkeel/runtime";
import type { Plan, PodName } from "../decide/answer.ts";
import { OBSTACLES } from "../decide/obstacles.ts";
import type { PlanSnapshot } from "../decide/snapshot.ts";
import type { NodeLevel } from "../observe/node-levels.ts";
import type { StoredPolicy } from "../policy-resource.ts";
import type { History } from "./history.ts";

/** What a reconcile shows of a policy. */
export interface ShownPolicy {
  readonly decision: Decision;
  readonly plan: Plan | null;
  readonly levels: readonly NodeLevel[];
  /** The levels when pods were last evicted, with what that plan predicted. Empty before the first wave. */
  readonly lastWave: readonly NodeLevel[];
  readonly spec: Pick<RebalancePolicySpec, "hotThreshold">;
  readonly budgets: readonly evictionsV1.Budget[];
  readonly history: History;
}

export type PolicyView = evictionsV1.DeepPartial<evictionsV1.PolicyPlan>;
export type PolicyBoard = ObjectBoard<StoredPolicy, ShownPolicy, PolicyView>;

/** Rows beyond these are counted. A reader follows the view live, so that it stays small in clusters of any size. */
const MOST_NODES = 50;
const MOST_MOVES = 100;
const MOST_LANDINGS = 3;
const UNKNOWN_LEVEL = -1;

/** A policy as readers see it; on the leader with its last plan. */
export function policyView(object: StoredPolicy, shown?: ShownPolicy): PolicyView {
  const {
    name,
    reason = "",
    message = "",
    decidedAt,
    dryRun = false,
    paused = false,
    conditions = [],
  } = objectView(object, shown?.decision);
  const plan = shown && planView(shown, MOST_MOVES);
  return {
    ...{ policy: name, reason, message, dryRun, paused, conditions },
    ...(decidedAt !== undefined && { decidedAt }),
    ...(plan !== undefined && { plan }),
  };
}

/** The plan with its first moves; undefined while the load of nodes is unknown. */
export function planView(shown: ShownPolicy, mostMoves: number): evictionsV1.DeepPartial<evictionsV1.Plan> | undefined {
  const { plan, levels, spec, budgets } = shown;
  if (!plan?.sigma) return undefined;
  const { sigma, nodes, moves } = plan;
  const hottest = levels.toSorted((one, other) => (other.now ?? UNKNOWN_LEVEL) - (one.now ?? UNKNOWN_LEVEL));
  return {
    ...{ sigma: sigma.before, predicted: sigma.predicted, lowerBound: sigma.bound },
    ...{ hotNodes: nodes.hot, coldNodes: nodes.cold, nodeCount: levels.length, frozenNodes: nodes.frozen.length },
    hotThreshold: spec.hotThreshold,
    nodes: hottest.slice(0, MOST_NODES).map(({ name, now, predicted }) => ({
      name,
      ...(now !== null && { now }),
      ...(predicted !== null && { predicted }),
    })),
    heat: heatStrip(hottest, shown.lastWave),
    moves: moves.slice(0, mostMoves).map(moveView),
    moveCount: moves.length,
    stays: staysByCode(plan),
    budgets: [...budgets],
  };
}

export function moveView({ pod, from, landings, deltaSigma, limits }: Plan["moves"][number]): evictionsV1.Move {
  return {
    pod: podText(pod),
    workload: pod.workload === null ? "" : `${pod.workload.kind} ${pod.workload.name}`,
    from,
    landings: landings.slice(0, MOST_LANDINGS).map(({ node, probability }) => ({ node, probability })),
    gain: -deltaSigma,
    limits: limits.map(({ code, by }) => (by === null ? code : `${code} ${by}`)),
  };
}

function heatStrip(hottest: readonly NodeLevel[], lastWave: readonly NodeLevel[]): evictionsV1.HeatStrip {
  const then = new Map(lastWave.map((level) => [level.name, level]));
  const before = lastWave.length === 0 ? [] : hottest.map(({ name }) => then.get(name));
  return {
    now: hottest.map(({ now }) => thousandths(now)),
    predicted: hottest.map(({ predicted }) => thousandths(predicted)),
    before: before.map((level) => thousandths(level?.now ?? null)),
    foretold: before.map((level) => thousandths(level?.predicted ?? null)),
  };
}

function thousandths(level: number | null): number {
  return level === null ? UNKNOWN_LEVEL : Math.round(Math.max(0, level) * 1000);
}

/** What limits evictions by time, and how much of it is used. */
export function budgetViews({ cluster, memory, policy: { name, spec } }: PlanSnapshot): readonly evictionsV1.Budget[] {
  const hours = cluster.slos.flatMap(({ namespace, name: slo, spec: { maxDisruptionsPerHour: limit } }) => {
    const by = `${namespace}/${slo}`;
    return limit === undefined ? [] : [{ kind: "HourlyLimit", by, limit, used: memory?.lastHour[by] ?? 0 }];
  });
  const minute = { kind: "MinuteLimit", by: name, limit: spec.maxEvictionsPerMinute, used: memory?.lastMinute ?? 0 };
  return [minute, ...hours];
}

/** Pods of hot nodes that stay, by code; the code with the most pods first. */
function staysByCode({ stays }: Plan): evictionsV1.Stays[] {
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
