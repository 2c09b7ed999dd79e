import { ScheduledLandings } from "./landings.ts";
import { type Emulated, LowNodeUtilization } from "./low-node-utilization.ts";
import { inNameOrder } from "./name-order.ts";
import { plan } from "./plan.ts";
import type { PlanSnapshot } from "./snapshot.ts";
import { utilisationOf } from "./utilisation.ts";

/**
 * Another rebalancer on the same snapshot. It did not run: its rules were applied to the snapshot, with the same
 * landings.
 */
export interface Comparison extends Emulated {
  readonly name: "low-node-utilization";
  readonly isEmulated: true;
  /** Percent around the mean. */
  readonly band: number;
  /** What this planner needs for the same σ; null if it does not reach it. */
  readonly evictionsForSameSigma: number | null;
}

/**
 * How many orders of pods are tried to find the one in the middle. In some, descheduler needs 7 % more evictions than
 * in most.
 */
const ORDERS = 99;

/** What descheduler's LowNodeUtilization would do, and how many evictions a plan takes to the same σ. */
export function compareWith(snapshot: PlanSnapshot, name: "low-node-utilization", band: number): Comparison {
  const cluster = inNameOrder(snapshot.cluster);
  const { basis, resourceWeights } = snapshot.policy.spec;
  const { cpu = 0, memory = 0 } = resourceWeights;
  const utilisation = utilisationOf(cluster, basis, { cpu, memory }, snapshot.memory);
  const inOrder = (order: number) => new LowNodeUtilization(cluster, utilisation, band, order);
  const emulated = inOrder(middleOrder(inOrder)).run(new ScheduledLandings(cluster));
  const sameSigma = plan({
    ...snapshot,
    policy: { ...snapshot.policy, spec: { ...snapshot.policy.spec, targetSigma: emulated.sigma } },
    budget: Math.max(snapshot.budget, emulated.evictions),
  });
  const isReached = sameSigma.outcome === "TargetReached";
  return {
    ...emulated,
    name,
    isEmulated: true,
    band,
    evictionsForSameSigma: isReached ? sameSigma.moves.length : null,
  };
}

/** The order whose first cycle has the median of evictions: nearly all are in it. */
function middleOrder(inOrder: (order: number) => LowNodeUtilization): number {
  const counts = Array.from({ length: ORDERS }, (_, order) => ({ order, count: inOrder(order).cycle().length }));
  return counts.sort((a, b) => a.count - b.count)[Math.floor(ORDERS / 2)]?.order ?? 0;
}
