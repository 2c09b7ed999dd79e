import type { Plan, PlannedMove } from "./answer.ts";
import { Budgets } from "./budgets.ts";
import { Eligibility } from "./eligibility.ts";
import { type Hold, hold } from "./obstacles.ts";
import { NONE, type PlanSnapshot } from "./snapshot.ts";
import { utilisationOf } from "./utilisation.ts";

/** What a plan does with one pod, and why. */
export interface PodExplanation {
  /** Null while the pod is pending. */
  readonly node: string | null;
  /** The level of the node by the weights of the policy; null if it is unknown. */
  readonly nodeLevel: number | null;
  readonly nodeIsHot: boolean;
  /** Null if the pod stays. */
  readonly move: PlannedMove | null;
  /** Everything that keeps the pod where it is, the weightiest first; empty if it is moved. */
  readonly holds: readonly Hold[];
}

/**
 * Explains the pod `namespace/name` in the light of the plan that was made from the snapshot; null if there is none.
 */
export function explainPod(snapshot: PlanSnapshot, made: Plan, key: string): PodExplanation | null {
  const { cluster, policy, memory } = snapshot;
  const { pods, shapes, nodes } = cluster;
  const pod = pods.name.findIndex(
    (name, row) => `${shapes[pods.shape[row] as number]?.namespace ?? ""}/${name}` === key,
  );
  if (pod === -1) return null;
  const row = pods.node[pod] as number;
  const node = row === NONE ? null : (nodes[row]?.name ?? null);
  if (made.outcome === "InvalidPolicy") return { node, nodeLevel: null, nodeIsHot: false, move: null, holds: [] };
  const { cpu = 0, memory: memoryWeight = 0 } = policy.spec.resourceWeights;
  const utilisation = utilisationOf(cluster, policy.spec.basis, { cpu, memory: memoryWeight }, memory);
  const nodeLevel = utilisation.levels[utilisation.slotOf[row] ?? NONE] ?? null;
  const uid = pods.uid[pod];
  const move = made.moves.find((each) => each.pod.uid === uid) ?? null;
  const about = { node, nodeLevel, nodeIsHot: node !== null && made.levels[node]?.level === "above", move };
  if (move !== null) return { ...about, holds: [] };
  const fixed = new Eligibility(snapshot, utilisation).holds(pod);
  const spent = new Budgets(snapshot).hold(pod, () => true);
  const stay = made.stays.find((each) => each.pod.uid === uid);
  const known = [...fixed, ...(spent === undefined ? [] : [spent])];
  const found = stay === undefined || known.some(({ code }) => code === stay.code) ? [] : [hold(stay.code, stay.by)];
  const holds = [...known, ...found];
  return { ...about, holds: holds.length > 0 ? holds : [restingHold(about.nodeIsHot, policy.spec.targetSigma)] };
}

/** Why a pod that nothing holds is not in the plan. With a targetSigma every node above the mean is relieved. */
function restingHold(nodeIsHot: boolean, targetSigma: number | undefined): Hold {
  return hold(nodeIsHot || targetSigma !== undefined ? "NoGain" : "NodeNotHot");
}
