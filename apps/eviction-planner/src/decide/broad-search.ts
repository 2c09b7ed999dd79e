import type { Candidate, Course } from "./course.ts";
import type { Hold } from "./obstacles.ts";
import type { Found, Sources } from "./search.ts";

/** Landings that may be asked for in one plan. */
const MOST_ASKED = 30_000;
const WIDEST = 24;

/** Some moves in order. */
interface Branch {
  readonly moves: readonly Candidate[];
  /** What they bring together, and the sum of their factors. */
  readonly gain: number;
  readonly factors: number;
  /** The gain with the mean of their factors. */
  readonly value: number;
  /** The sum of what was brought after each of them: the higher, the sooner they help. */
  readonly sum: number;
}

/** Values that differ by less are the same. */
const SAME_VALUE = 1e-12;

/**
 * How many branches a search over so many pods can afford; below 2 it is no better than taking the best move each time.
 */
export function affordableWidth(pods: number, budget: number): number {
  return Math.min(WIDEST, Math.floor(MOST_ASKED / Math.max(1, pods * Math.min(pods, budget))));
}

/**
 * Makes the best moves of a small cluster. The best move now may spoil better ones later, so the `width` best sequences
 * of each length are all continued, even over a move that does harm by itself. Of sequences with the same pods the best
 * is kept.
 */
export function searchBroadly(course: Course, sources: Sources, budget: number, width: number): Found {
  const best = bestBranch(course, sources, budget, width);
  for (const move of best.moves) course.make(move);
  const holds = new Map<number, Hold>();
  for (const pod of podsInReach(course, sources)) {
    const candidate = course.evaluate(pod);
    if ("code" in candidate) holds.set(pod, candidate);
  }
  if (sources.isTargetReached()) return { ending: "TargetReached", holds };
  return { ending: course.moves.length >= budget ? "BudgetSpent" : "AsLevelAsItGets", holds };
}

function bestBranch(course: Course, sources: Sources, budget: number, width: number): Branch {
  const none: Branch = { moves: [], gain: 0, factors: 0, value: 0, sum: 0 };
  let best = none;
  let branches: readonly Branch[] = [none];
  for (let length = 0; length <= budget && branches.length > 0; length += 1) {
    const next = new Map<string, Branch>();
    for (const branch of branches) {
      const isEnough = course.suppose(branch.moves, () => {
        if (sources.isTargetReached()) return true;
        if (length < budget) for (const longer of continued(course, sources, branch)) keepBetter(next, longer);
        return false;
      });
      // Branches are in order, so the first that reaches the target is the best of the shortest.
      if (isEnough && course.isWorth(branch.value, length)) return branch;
    }
    branches = [...next.values()].sort(better).slice(0, width);
    const [first] = branches;
    if (first !== undefined && course.isWorth(first.value - best.value, length + 1 - best.moves.length)) best = first;
  }
  return best;
}

function better(a: Branch, b: Branch): number {
  return Math.abs(a.value - b.value) < SAME_VALUE ? b.sum - a.sum : b.value - a.value;
}

function* continued(course: Course, sources: Sources, branch: Branch): Generator<Branch> {
  for (const pod of podsInReach(course, sources)) {
    const candidate = course.evaluate(pod);
    if ("code" in candidate) continue;
    const moves = [...branch.moves, candidate];
    const [gain, factors] = [branch.gain + candidate.gain, branch.factors + candidate.factor];
    const value = (gain * factors) / moves.length;
    yield { moves, gain, factors, value, sum: branch.sum + value };
  }
}

function keepBetter(branches: Map<string, Branch>, branch: Branch): void {
  const key = branch.moves
    .map(({ pod }) => pod)
    .sort((a, b) => a - b)
    .join(" ");
  const known = branches.get(key);
  if (known === undefined || better(branch, known) < 0) branches.set(key, branch);
}

/** Pods of sources, and of nodes where pods landed: one of them may make room for a larger one. */
function podsInReach(course: Course, sources: Sources): readonly number[] {
  const landed = course.moves.flatMap(({ landings }) => landings.slice(0, 1).map(({ to }) => to));
  const slots = new Set([...sources.all(), ...landed]);
  return [...slots].flatMap((slot) => [...sources.podsOf(slot)]).filter((pod) => !course.hasMoved(pod));
}
