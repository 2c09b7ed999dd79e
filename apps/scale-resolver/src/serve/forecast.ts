import { type Obstacle, obstacles } from "../decide/obstacles.ts";
import type { ServiceSnapshot } from "../decide/snapshot.ts";
import { stateDecider, type StateVerdict } from "../decide/state-decider.ts";

export interface Forecast {
  readonly verdict: StateVerdict;
  /** What keeps the service awake, the weightiest first. Nothing keeps one awake that has no ready pods. */
  readonly obstacles: readonly Obstacle[];
  /** What only takes time. */
  readonly waits: readonly Obstacle[];
}

/** What is next for a service, and what is in its way. */
export function forecast(snapshot: ServiceSnapshot): Forecast {
  const verdict = stateDecider.decide(snapshot);
  return { verdict, obstacles: inTheWay(snapshot), waits: waits(snapshot, verdict) };
}

function inTheWay(snapshot: ServiceSnapshot): readonly Obstacle[] {
  const { blocked, dryRun, stage, pods } = snapshot;
  const always: Obstacle[] = [];
  if (blocked) always.push({ reason: blocked.reason, message: `Nothing is done: ${blocked.message}` });
  if (dryRun) always.push({ reason: "DryRun", message: "A dry run is asked for, so the service is kept in Serve" });
  const isAwake = (stage.state === "Serve" || stage.state === "Guard") && pods?.ready !== 0;
  return isAwake ? [...always, ...obstacles(snapshot)] : always;
}

function waits({ blocked, stage, policy }: ServiceSnapshot, { action, reason, message }: StateVerdict): Obstacle[] {
  const isUnderWay = stage.state === "Guard" || stage.state === "Wake";
  if (blocked || action !== "stay" || !isUnderWay) return [];
  if (reason !== "PathUnproven") return [{ reason, message }];
  return [
    { reason, message },
    { reason: "Quieting", message: `From then on, no request may come for ${policy.quiet / 1000} s` },
  ];
}
