import { type ObjectBoard, type ObjectView, objectView } from "@evenkeel/operator";
import type { Decision } from "@evenkeel/runtime";
import type { StoredCollectorLoadBalancer } from "../collector-load-balancer-resource.ts";
import type { FleetPlan } from "../decide/plan.ts";
import type { FleetSnapshot } from "../decide/snapshot.ts";
import type { MovementPoint } from "./movement.ts";

/** What a reconcile shows of a CollectorLoadBalancer. */
export interface ShownFleet {
  readonly decision: Decision;
  readonly snapshot: FleetSnapshot;
  readonly plan: FleetPlan;
  readonly movement: readonly MovementPoint[];
}

export type FleetBoard = ObjectBoard<StoredCollectorLoadBalancer, ShownFleet, ObjectView>;

/** Rows beyond these are counted. */
const MOST_COLLECTORS = 100;

/** A CollectorLoadBalancer as readers see it; on the leader with its collectors and their loads as `value`. */
export function fleetView(object: StoredCollectorLoadBalancer, shown?: ShownFleet): ObjectView {
  const view = objectView(object, shown?.decision);
  return { ...view, value: shown && fleetValue(shown) };
}

function fleetValue({ snapshot, plan, movement }: ShownFleet) {
  const away = new Map(snapshot.collectors.map(({ name, awaySince }) => [name, awaySince]));
  return {
    targets: snapshot.targetCount,
    collectorCount: snapshot.members.length,
    collectors: snapshot.members
      .toSorted((one, other) => other.load - one.load)
      .slice(0, MOST_COLLECTORS)
      .map(({ name, load, targets, zone, node, leaving }) => ({
        ...{ name, load, targets, zone: zone ?? "", node: node ?? "", leaving: leaving === true },
        away: (away.get(name) ?? null) !== null,
      })),
    ...loadRange(snapshot),
    moves: plan.moves.length,
    handingOver: plan.handingOver,
    movement,
  };
}

/** The largest and the smallest load over the mean; null while there is no load. */
export function loadRange({ members }: Pick<FleetSnapshot, "members">) {
  const loads = members.map(({ load }) => load);
  const mean = loads.reduce((sum, load) => sum + load, 0) / loads.length;
  if (!(mean > 0)) return { maxOverMean: null, minOverMean: null };
  return { maxOverMean: Math.max(...loads) / mean, minOverMean: Math.min(...loads) / mean };
}
