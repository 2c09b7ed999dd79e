import { type Band, type BandState, bandWithMargin, classify, startWithin } from "@evenkeel/scoring";
import type { PlanSnapshot } from "./snapshot.ts";
import type { Utilisation } from "./utilisation.ts";

/**
 * Milliseconds. A node changes its class with the second sample that says so, however far apart samples are. A question
 * that nobody carries out has one sample only, which is then enough.
 */
const TWO_SAMPLES = 1;

export interface NodeClasses {
  /** By slot. */
  readonly isHot: readonly boolean[];
  readonly hot: number;
  readonly cold: number;
  /** By name of the node; what the next plan is to be given as `memory.levels`. Frozen nodes keep what they had. */
  readonly levels: Readonly<Record<string, BandState>>;
}

export function classifyNodes({ at, policy, cluster, memory }: PlanSnapshot, utilisation: Utilisation): NodeClasses {
  const band = bandOf(policy.spec, memory === null ? 0 : TWO_SAMPLES);
  const levels: Record<string, BandState> = {};
  for (const { name } of cluster.nodes) {
    const before = memory?.levels[name];
    if (before !== undefined) levels[name] = classify(band, before, undefined, at).state;
  }
  const isHot: boolean[] = [];
  let [hot, cold] = [0, 0];
  utilisation.nodeAt.forEach((node, slot) => {
    const name = cluster.nodes[node]?.name ?? "";
    const before = memory?.levels[name] ?? startWithin(at);
    const { state } = classify(band, before, utilisation.levels[slot], at);
    levels[name] = state;
    isHot.push(state.level === "above");
    if (state.level === "above") hot += 1;
    if (state.level === "below") cold += 1;
  });
  return { isHot, hot, cold, levels };
}

type Thresholds = Pick<PlanSnapshot["policy"]["spec"], "hotThreshold" | "coldThreshold" | "hysteresis">;

function bandOf({ coldThreshold, hotThreshold, hysteresis }: Thresholds, dwell: number): Band {
  return bandWithMargin(coldThreshold, hotThreshold, hysteresis, dwell);
}
