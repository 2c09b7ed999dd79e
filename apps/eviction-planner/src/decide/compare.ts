import { ScheduledLandings } from "./landings.ts";
import { type Emulated, LowNodeUtilization } from "./low-node-utilization.ts";
import { inNameOrder } from "./name-order.ts";
import { plan } from "./plan.ts";
import type { PlanSnapshot } from "./snapshot.ts";
import { utilisationOf } from "./utilisation.ts";

/** Another rebalancer on the same snapshot. It did not run: its rules were applied to the snapshot, with the same landings. */
export interface Comparison extends Emulated {
  readonly name: "low-node-utilization";
  readonly isEmulated: true;
  /** Percent around the mean. */
  readonly band: number;
  /** What this planner needs for the same σ; null if it does not reach it. */
  readonly evictionsForSameSigma: number | null;
}

/** What descheduler's LowNodeUtilization would do, and how many evictions a plan takes to the same σ. */
export function compareWith(snapshot: PlanSnapshot, name: "low-node-utilization", band: number): Comparison {
  const cluster = inNameOrder(snapshot.cluster);
  const { basis, resourceWeights } = snapshot.policy.spec;
  const { cpu = 0, memory = 0 } = resourceWeights;
  const utilisation = utilisationOf(cluster, basis, { cpu, memory }, snapshot.memory);
  const emulated = new LowNodeUtilization(cluster, utilisation, new ScheduledLandings(cluster), band).run(Infinity);
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
