import { type Obstacle, obstacles } from "../decide/obstacles.ts";
import type { ServiceSnapshot } from "../decide/snapshot.ts";
import { stateDecider, type StateVerdict } from "../decide/state-decider.ts";

export interface Forecast {
  readonly verdict: StateVerdict;
  /** What prevents sleep, the most important first; empty for a service without ready pods. */
  readonly obstacles: readonly Obstacle[];
  /** What only needs time. */
  readonly waits: readonly Obstacle[];
}

/** The next decision for a service, and what prevents it from being scaled to 0. */
export function forecast(snapshot: ServiceSnapshot): Forecast {
  const verdict = stateDecider.decide(snapshot);
  return { verdict, obstacles: obstaclesOf(snapshot), waits: waits(snapshot, verdict) };
}

function obstaclesOf(snapshot: ServiceSnapshot): readonly Obstacle[] {
  const { blocked, dryRun, stage, pods } = snapshot;
  const always: Obstacle[] = [];
  if (blocked) always.push({ reason: blocked.reason, message: `Nothing is changed: ${blocked.message}` });
  if (dryRun) always.push({ reason: "DryRun", message: "In a dry run requests are not redirected" });
  const isAwake = (stage.state === "Serve" || stage.state === "Guard") && pods?.ready !== 0;
  return isAwake ? [...always, ...obstacles(snapshot)] : always;
}

function waits({ blocked, stage, policy }: ServiceSnapshot, { action, reason, message }: StateVerdict): Obstacle[] {
  const isUnderWay = stage.state === "Guard" || stage.state === "Wake";
  if (blocked || action !== "stay" || !isUnderWay) return [];
  if (reason !== "PathUnproven") return [{ reason, message }];
  return [
    { reason, message },
    { reason: "Quieting", message: `After that, no request may arrive for ${policy.quiet / 1000} s` },
  ];
}
