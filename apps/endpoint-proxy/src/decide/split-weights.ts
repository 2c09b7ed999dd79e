import type { SplitMember, SplitSnapshot } from "./split-snapshot.ts";

/** What the parts are weighted by. */
export interface Weights {
  readonly basis: "Weights" | "Even" | "MarginalWatts" | "FreeRoom" | "Score";
  readonly of: ReadonlyMap<string, number>;
}

/**
 * How much of new replicas each member should get, in proportion.
 *
 *     cluster-weights                          as annotated
 *     divide: even                             1 each
 *     every member knows its marginal watts    1 / watts of one more CPU
 *     scores are of capacity, or differ        free CPU
 *     Fake predictors, or no marginal watts    the original's: sum of all scores less the own score
 *
 * Only proportions matter, so the unit of the scores does not.
 */
export function weightsOf({ policy }: SplitSnapshot, members: readonly SplitMember[]): Weights {
  const each = (basis: Weights["basis"], weight: (member: SplitMember) => number): Weights => {
    const weights = members.map((member) => [member.name, Math.max(0, weight(member))] as const);
    const isFlat = weights.every(([, one]) => one === 0);
    return { basis, of: new Map(isFlat ? weights.map(([name]) => [name, 1]) : weights) };
  };
  const { weights } = policy;
  if (weights !== null) return each("Weights", ({ name }) => weights[name] ?? 0);
  if (policy.divide === "even") return each("Even", () => 1);
  const watts = members.map(marginalWatts);
  if (watts.every((one) => one !== undefined)) {
    const least = Math.min(...watts);
    return each("MarginalWatts", (member) => rounded(least / (marginalWatts(member) ?? least)));
  }
  if (members.some(({ score }) => score?.source !== "watts")) return each("FreeRoom", freeCpu);
  const all = members.reduce((sum, { score }) => sum + (score?.score ?? 0), 0);
  return each("Score", ({ score }) => rounded(all === 0 ? 0 : (all - (score?.score ?? 0)) / all));
}

/** Pods of this workload that still fit there, beyond those it holds. */
export function roomFor({ requests }: SplitSnapshot, { score, placedSince }: SplitMember): number {
  if (score === null) return 0;
  if (score.free === null) return Number.MAX_SAFE_INTEGER;
  const fits = (free: number, used: number, each: number): number =>
    each <= 0 ? Number.MAX_SAFE_INTEGER : Math.max(0, Math.floor((free - used) / each));
  return Math.min(
    fits(score.free.cpu, placedSince.cpu, requests.cpu),
    fits(score.free.memory, placedSince.memory, requests.memory),
    fits(score.free.pods, placedSince.pods, 1),
  );
}

/** Undefined where it is not known; 0 is what a predictor says that knows nothing. */
export function marginalWatts({ score }: SplitMember): number | undefined {
  const watts = score?.source === "watts" ? score.marginalWatts : null;
  return watts !== null && watts > 0 ? watts : undefined;
}

function freeCpu({ score, placedSince }: SplitMember): number {
  return Math.max(0, (score?.free?.cpu ?? 0) - placedSince.cpu);
}

/** Without the last digits, which depend on the unit. */
function rounded(weight: number): number {
  return Number(weight.toPrecision(12));
}
