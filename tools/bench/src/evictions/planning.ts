// A process that plans for a large cluster as often as told, and prints what that took as one line of JSON. It is
// started with the flags of the image.
import { plan } from "@evenkeel/eviction-planner/plan";
import { sigmaBound } from "@evenkeel/scoring";
import { holdingsOf, largeCluster } from "./scene.ts";

const [nodes = NaN, moves = NaN, rounds = NaN] = process.argv.slice(2, 5).map(Number);

/** Milliseconds of CPU time of this thread: a busy machine does not count. */
function cost(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

export interface Planning {
  /** Milliseconds of CPU time of each plan, with its bound and its explanations. */
  readonly plans: readonly number[];
  readonly bounds: readonly number[];
  readonly moves: number;
  readonly sigma: { readonly before: number; readonly predicted: number; readonly bound: number };
}

const snapshot = largeCluster(nodes, moves);
const made = plan(snapshot);
const times = Array.from({ length: rounds }, () => ({
  plan: cost(() => plan(snapshot)),
  bound: cost(() => sigmaBound(holdingsOf(snapshot), moves)),
}));
const result: Planning = {
  plans: times.map(({ plan }) => plan),
  bounds: times.map(({ bound }) => bound),
  moves: made.moves.length,
  sigma: made.sigma ?? { before: NaN, predicted: NaN, bound: NaN },
};
console.log(JSON.stringify(result));
