import { sigmaBound, Spread } from "@evenkeel/scoring";
import type { Outcome, Plan } from "./answer.ts";
import { affordableWidth, searchBroadly } from "./broad-search.ts";
import { Budgets } from "./budgets.ts";
import { classifyNodes } from "./classify-nodes.ts";
import { costOf } from "./cost.ts";
import { Course } from "./course.ts";
import { Eligibility } from "./eligibility.ts";
import { Describer, HOLD_OF_ENDING } from "./describe.ts";
import { ScheduledLandings } from "./landings.ts";
import { likelyNodes } from "./likely-nodes.ts";
import { MovablePods } from "./movable.ts";
import { inNameOrder } from "./name-order.ts";
import { nodeClassMembers, NodePreference } from "./node-preference.ts";
import type { Hold, Obstacle } from "./obstacles.ts";
import { policyFaults } from "./policy-faults.ts";
import { rightSizing } from "./right-sizing.ts";
import { type Ending, search } from "./search.ts";
import { type PlanSnapshot, type PlanUnderWay, POD } from "./snapshot.ts";
import { PolicySources } from "./sources.ts";
import { utilisationOf } from "./utilisation.ts";

/**
 * Which pods to evict so that nodes become level with the fewest evictions. The same snapshot gives the same plan; the
 * order of its rows does not matter. Every prefix of the moves keeps all limits.
 */
export function plan(snapshot: PlanSnapshot): Plan {
  return planIgnoring(snapshot, () => false);
}

/** Limits that are over when replacements are ready, or a minute has passed. */
const PASSING: ReadonlySet<Obstacle> = new Set(["MinuteLimit", "OwnerInFlight", "NodeInFlight"]);

/** By how much σ may exceed what a plan under way foretold, before another plan takes its place. */
const KEPT_WITHIN = 0.01;

/**
 * The plan as if some holds did not exist, to find out what they cost. A plan that is carried out evicts now what may
 * go now of the plan without passing limits. Other pods in place of those that have to wait would be evictions that
 * bring less, and not those that a dry run names.
 */
export function planIgnoring(given: PlanSnapshot, ignores: (hold: Hold) => boolean): Plan {
  const { memory } = given;
  if (memory === null) return planOf(given, ignores, null);
  const ignoresPassing = (hold: Hold) => PASSING.has(hold.code) || ignores(hold);
  // The status of a disruption budget that lags behind an eviction passes too.
  const settled = { ...given, memory: { ...memory, awaited: [] } };
  const { underWay, ending } = restOf(settled, ignoresPassing) ?? newPlan(planOf(settled, ignoresPassing, null));
  return { ...planOf(given, ignores, { pods: new Set(underWay?.pods), ending }), underWay };
}

interface WholePlan {
  readonly underWay: PlanUnderWay | null;
  readonly ending: Outcome;
}

function newPlan({ moves, sigma, outcome }: Plan): WholePlan {
  const underWay = sigma && { pods: moves.map(({ pod }) => pod.uid), sigma: sigma.predicted };
  return { underWay, ending: outcome };
}

/** What is left of the plan under way; undefined if there is nothing, or it no longer brings what it foretold. */
function restOf(given: PlanSnapshot, ignores: (hold: Hold) => boolean): WholePlan | undefined {
  const { underWay = null, inFlight = [] } = given.memory ?? {};
  if (underWay === null) return undefined;
  const { uid, flags } = given.cluster.pods;
  const wanted = new Set(underWay.pods);
  const isLeft = (pod: string, row: number) => wanted.has(pod) && ((flags[row] as number) & POD.terminating) === 0;
  const pods = uid.filter(isLeft);
  const { moves, sigma, outcome } = planOf(given, ignores, { pods: new Set(pods), ending: "TargetReached" });
  // Until replacements have landed, their load is spread over the nodes where it is expected, and σ looks too good.
  const isOver = moves.length === 0 && inFlight.length === 0;
  if (isOver || pods.length === 0 || sigma === null || sigma.predicted > underWay.sigma + KEPT_WITHIN) return undefined;
  return { underWay: { pods, sigma: underWay.sigma }, ending: outcome };
}

/** Pods that a plan may move, by uid, and why others stay. */
interface Wanted {
  readonly pods: ReadonlySet<string>;
  readonly ending: Outcome;
}

/** A plan that moves no other pods than the wanted ones; null for all. */
function planOf(given: PlanSnapshot, ignores: (hold: Hold) => boolean, only: Wanted | null): Plan {
  const { spec } = given.policy;
  const faults = policyFaults(spec);
  if (faults.length > 0) return { ...emptyPlan(given, "InvalidPolicy"), faults };
  const snapshot = { ...given, cluster: inNameOrder(given.cluster) };
  const { cluster } = snapshot;
  const { cpu = 0, memory = 0 } = spec.resourceWeights;
  const utilisation = utilisationOf(cluster, spec.basis, { cpu, memory }, snapshot.memory);
  const describer = new Describer(cluster);
  const classes = classifyNodes(snapshot, utilisation);
  const frozen = [...utilisation.frozen].map(([node, reason]) => ({ node: describer.node(node), reason }));
  const nodes = { known: utilisation.nodeAt.length, hot: classes.hot, cold: classes.cold, frozen };
  if (nodes.known < 2) return { ...emptyPlan(given, "NothingKnown"), nodes, levels: classes.levels };

  const eligibility = new Eligibility(snapshot, utilisation);
  const budgets = new Budgets(snapshot);
  const counts = (hold: Hold) => !ignores(hold);
  const fixedHolds = cluster.pods.uid.map((_, pod) => eligibility.holds(pod).find(counts));
  const firstHold = (pod: number): Hold | undefined => fixedHolds[pod] ?? budgets.hold(pod, counts);
  const movable = new MovablePods(utilisation, cluster.pods, (pod) => firstHold(pod) === undefined);
  const budget = Math.max(0, Math.min(Math.floor(snapshot.budget), movable.count));
  const bound = sigmaBound(movable.holdings(), budget);
  const isWanted = (pod: number) => only === null || only.pods.has(cluster.pods.uid[pod] ?? "");
  const isOpen = (pod: number) => isWanted(pod) && firstHold(pod) === undefined;
  const wanted = only === null ? movable : new MovablePods(utilisation, cluster.pods, isOpen);

  const spread = new Spread(utilisation.levels);
  const members = nodeClassMembers(cluster).map(({ name, members }) => ({
    name,
    slots: members.map((node) => utilisation.slotOf[node] as number).filter((slot) => slot >= 0),
  }));
  const before = { sigma: spread.sigma, classes: members.map(({ slots }) => spread.sigmaOf(slots)) };
  const preference = new NodePreference(snapshot);
  const nodeOf = (pod: number) => cluster.pods.node[pod] as number;
  const landings = new ScheduledLandings(cluster);
  const course = new Course(
    {
      podCount: cluster.pods.uid.length,
      utilisation,
      landings,
      budgets,
      highestLanding: spec.hotThreshold - spec.hysteresis,
      nodeOf,
      ownerOf: (pod) => cluster.pods.owner[pod] as number,
      costOf: (pod) => costOf(snapshot, pod),
      bonus: (pod, node) => preference.bonus(cluster.pods.workloadKind[pod] as number, node),
      canPreempt: (pod) => cluster.shapes[cluster.pods.shape[pod] as number]?.canPreempt === true,
      ignores,
    },
    spread,
  );
  const podsOf = (slot: number) => wanted.of(slot);
  const sources = new PolicySources({ spec, utilisation, isHot: classes.isHot, podsOf, nodeOf }, course);
  const sourceSlots = sources.all();
  // The rest of a plan and its waves are searched for as the plan was.
  const ofAll = podCount(sourceSlots, (slot) => movable.of(slot));
  const width = affordableWidth(ofAll, budget);
  const found = width < 2 ? search(course, sources, budget) : searchBroadly(course, sources, budget, width);
  // The search also ends when every movable pod has moved.
  const ending =
    course.moves.length < given.budget && found.ending === "BudgetSpent" ? "AsLevelAsItGets" : found.ending;
  const staying = {
    hasMoved: (pod: number) => course.hasMoved(pod),
    holdOf: (pod: number) =>
      firstHold(pod) ?? (isWanted(pod) ? found.holds.get(pod) : HOLD_OF_ENDING[only?.ending as Ending]),
    ending,
  };
  return {
    policy: given.policy.name,
    outcome: ending,
    faults,
    nodes,
    sigma: { before: before.sigma, predicted: course.spread.sigma, bound: bound[course.moves.length] ?? before.sigma },
    curve: { predicted: [before.sigma, ...course.moves.map(({ sigma }) => sigma)], bound: [...bound] },
    classes: members.map(({ name, slots }, index) => ({
      name,
      nodes: slots.length,
      before: before.classes[index] ?? 0,
      predicted: course.spread.sigmaOf(slots),
    })),
    moves: describer.moves(course.moves, before.sigma, budgets, (pod) => costOf(snapshot, pod)),
    likelyNodes:
      snapshot.memory === null ? [] : [...likelyNodes(landings, course.moves)].map((node) => describer.node(node)),
    held: describer.held(sourceSlots, utilisation, staying),
    stays: describer.stays(classes.isHot, utilisation, staying),
    rightSizing: spec.basis === "usage" ? rightSizing(cluster) : [],
    levels: classes.levels,
    underWay: null,
  };
}

function podCount(slots: readonly number[], podsOf: (slot: number) => Int32Array): number {
  return slots.reduce((sum, slot) => sum + podsOf(slot).length, 0);
}

function emptyPlan({ policy, memory }: PlanSnapshot, outcome: Outcome): Plan {
  return {
    policy: policy.name,
    outcome,
    faults: [],
    nodes: { known: 0, hot: 0, cold: 0, frozen: [] },
    sigma: null,
    curve: { predicted: [], bound: [] },
    classes: [],
    moves: [],
    likelyNodes: [],
    held: [],
    stays: [],
    rightSizing: [],
    levels: memory?.levels ?? {},
    underWay: null,
  };
}
