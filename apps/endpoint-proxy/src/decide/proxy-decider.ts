import type { Decider } from "@evenkeel/runtime";
import { scoreDecider } from "./score-decider.ts";
import type { ScoreSnapshot } from "./snapshot.ts";
import { splitDecider, type SplitVerdict } from "./split.ts";
import type { SplitSnapshot } from "./split-snapshot.ts";

type ScoreVerdict = ReturnType<(typeof scoreDecider)["decide"]>;

/** The service decides two things: which clusters take part, and how replicas are divided over them. */
function decide(snapshot: ScoreSnapshot | SplitSnapshot): ScoreVerdict | SplitVerdict {
  return isSplit(snapshot) ? splitDecider.decide(snapshot) : scoreDecider.decide(snapshot);
}

function isSplit(snapshot: ScoreSnapshot | SplitSnapshot): snapshot is SplitSnapshot {
  return "policy" in snapshot;
}

export const proxyDecider = {
  actions: [...new Set([...scoreDecider.actions, ...splitDecider.actions])],
  reasons: [...new Set([...scoreDecider.reasons, ...splitDecider.reasons])],
  decide,
} satisfies Decider<ScoreSnapshot | SplitSnapshot>;
