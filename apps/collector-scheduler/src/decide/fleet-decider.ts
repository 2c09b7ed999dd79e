import type { Decider, Verdict } from "@evenkeel/runtime";
import { type FleetPlan, planOf } from "./plan.ts";
import { nextRestart } from "./restarts.ts";
import type { FleetSnapshot } from "./snapshot.ts";

const ACTIONS = ["hold", "assign"] as const;

/** Why targets move or stay. The same words are metric labels, Event reasons and what the dashboard shows. */
const REASONS = [
  "Paused",
  "StateAway",
  "OriginalRuns",
  "Waiting",
  "InvalidScale",
  "NoCollector",
  "CollectorJoined",
  "CollectorLeft",
  "Orphans",
  "OutOfBand",
  "Cooldown",
  "LoadUnknown",
  "BudgetSpent",
  "AsLevelAsItGets",
  "Restarting",
  "HandingOver",
  "SeatKept",
  "Balanced",
] as const;

export type FleetReason = (typeof REASONS)[number];

/** What a decision comes to, in short: moves are counted, not named. */
export interface FleetOutcome {
  readonly collectors: readonly string[];
  readonly moves: number;
}

export type FleetVerdict = Verdict<(typeof ACTIONS)[number], FleetReason, FleetOutcome>;

/** What comes of a plan. The plan is carried out only if the action is `assign`, or to go on with hand-overs. */
export function verdictOf(snapshot: FleetSnapshot, plan: FleetPlan): FleetVerdict {
  const { namespace, name, paused, dryRun, stop } = snapshot;
  const before: FleetOutcome = { collectors: snapshot.members.map((member) => member.name), moves: 0 };
  const about = { object: { kind: "CollectorLoadBalancer", namespace, name }, before, dryRun };
  const hold = (reason: FleetReason, message: string): FleetVerdict => {
    return { ...about, action: "hold", reason, after: before, message };
  };
  if (paused) return hold("Paused", "The annotation evenkeel.io/paused is set; no hand-over begins");
  if (stop !== null) return hold(stop.reason, stop.message);
  const { membership, moves, scale, handingOver } = plan;
  const after = { collectors: membership.members.map((member) => member.name), moves: moves.length };
  const assign = (reason: FleetReason, message: string): FleetVerdict => {
    return {
      ...about,
      action: "assign",
      reason,
      after,
      message: `${message}; ${targets(moves.length)} ${dryRun ? "would move" : "move"}`,
    };
  };
  if (membership.left.length > 0 && scale.wanted === 0)
    return assign("CollectorLeft", `No collector is wanted, and ${listed(membership.left)} left`);
  if (membership.joined.length > 0) return assign("CollectorJoined", `${listed(membership.joined)} joined`);
  if (membership.dead.length > 0)
    return assign("Orphans", `${listed(membership.dead)} was away for longer than seatGrace`);
  if (moves.some(({ reason }) => reason === "Leaving"))
    return assign("CollectorLeft", "Targets move away from collectors that are being removed");
  if (moves.some(({ reason }) => reason === "OutOfBand" || reason.endsWith("Pool")))
    return assign("OutOfBand", "Collectors were further than 10 % from the mean load");
  if (moves.length > 0) return assign("Orphans", "Targets had no owner");
  if (membership.left.length > 0) return assign("CollectorLeft", `${listed(membership.left)} handed over all targets`);
  if (scale.fault !== null) return hold("InvalidScale", scale.fault.message);
  if (scale.wanted === 0) return hold("NoCollector", "No collector is wanted, so no target has an owner");
  if (membership.members.length === 0)
    return hold("NoCollector", "No collector has been ready for 10 s, so no target has an owner");
  if (snapshot.targetCount === null) return hold("Waiting", UNDISCOVERED);
  const restart = nextRestart(snapshot);
  if (restart !== null) return hold("Restarting", restartMessage(restart.name, snapshot));
  if (plan.uneven !== null) return hold(plan.uneven, UNEVEN[plan.uneven]);
  if (handingOver > 0) return hold("HandingOver", `${targets(handingOver)} change their collector`);
  if (membership.kept.length > 0) return hold("SeatKept", `The targets of ${listed(membership.kept)} wait for its pod`);
  return hold("Balanced", "Every collector has its share");
}

const UNDISCOVERED =
  "Not every source has answered, so load is not levelled and no collector leaves: see the condition TargetsDiscovered";

const UNEVEN = {
  Cooldown: "Collectors are further than 10 % from the mean load; targets move when placement.cooldown has passed",
  LoadUnknown:
    "Collectors are further than 10 % from the mean load as far as it is known; no target moves until the loads are known",
  BudgetSpent: "Collectors are further than 10 % from the mean load; placement.movesPerMinute is spent",
  AsLevelAsItGets: "Collectors are further than 10 % from the mean load, and no move would help",
} as const;

function restartMessage(name: string, { restart }: FleetSnapshot): string {
  const count = restart.outdated?.length ?? 0;
  return `${count} collectors restart one by one for a new image or configuration; ${name} is next`;
}

function targets(count: number): string {
  return count === 1 ? "1 target" : `${count} targets`;
}

/** The first few names. */
function listed(names: readonly string[]): string {
  const [shown, rest] = [names.slice(0, 5).join(", "), names.length - 5];
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

export const fleetDecider = {
  actions: ACTIONS,
  reasons: REASONS,
  decide: (snapshot) => verdictOf(snapshot, planOf(snapshot)),
} satisfies Decider<FleetSnapshot, (typeof ACTIONS)[number], FleetReason, FleetOutcome>;
