import type { Decider, Verdict } from "@evenkeel/runtime";
import type { LevelSnapshot } from "./snapshot.ts";

const ACTIONS = ["hold", "set"] as const;

/** Why the level is kept or set. The same words are metric labels, Event reasons and what the dashboard shows. */
const REASONS = ["Paused", "NoData", "OnTarget", "OffTarget"] as const;

type LevelVerdict = Verdict<(typeof ACTIONS)[number], (typeof REASONS)[number], number | null>;

/** Unknown is never a number: without a level the decision is to hold. */
function decide({ namespace, name, level, wanted, paused, dryRun }: LevelSnapshot): LevelVerdict {
  const about = { object: { kind: "EvictionPlanner", namespace, name }, before: level, dryRun };
  const hold = (reason: LevelVerdict["reason"], message: string): LevelVerdict => {
    return { ...about, action: "hold", reason, after: level, message };
  };
  if (paused) return hold("Paused", "The annotation evenkeel.io/paused is set; the level is not changed");
  if (level === null) return hold("NoData", "The level is unknown and is not changed");
  if (level === wanted) return hold("OnTarget", `The level is ${level}, as wanted`);
  return {
    ...about,
    action: "set",
    reason: "OffTarget",
    after: wanted,
    message: `The level ${level} is set to ${wanted}`,
  };
}

export const levelDecider = { actions: ACTIONS, reasons: REASONS, decide } satisfies Decider<LevelSnapshot>;
