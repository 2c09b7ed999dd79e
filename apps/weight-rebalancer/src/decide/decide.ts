import type { Decider, Snapshot, Verdict } from "@evenkeel/runtime";

export interface WorldSnapshot extends Snapshot {
  /** Null while it is unknown. */
  readonly load: number | null;
}

export type Action = "hold";
export type Reason = "NoData" | "Level";

function decide({ load }: WorldSnapshot): Verdict<Action, Reason, number | null> {
  const about = { object: { kind: "World", name: "world" }, action: "hold", before: load, after: load } as const;
  if (load === null) return { ...about, reason: "NoData", message: "The load is unknown; nothing is changed" };
  return { ...about, reason: "Level", message: `Load ${load} needs no change` };
}

export const decider: Decider<WorldSnapshot, Action, Reason, number | null> = {
  actions: ["hold"],
  reasons: ["NoData", "Level"],
  decide,
};
