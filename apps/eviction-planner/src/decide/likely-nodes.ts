import type { MadeMove } from "./course.ts";
import type { Landings } from "./landings.ts";

/** The likely nodes of a pod are the first that together have this probability. */
const LIKELY = 0.9;

/** The first of some landings, the likeliest first, that together have the probability `LIKELY`. */
export function likelyOnes<T extends { readonly probability: number }>(landings: readonly T[]): readonly T[] {
  let sum = 0;
  return landings.filter(({ probability }) => {
    const isLikely = sum < LIKELY;
    sum += probability;
    return isLikely;
  });
}

/**
 * The nodes where the replacements of some moves are likely to land, all together. Moves are made at the same time, so
 * the scheduler may see their replacements in any order, and where many nodes are alike each takes a node that was
 * foreseen for another. `landings` knows all the moves, and is the same afterwards.
 */
export function likelyNodes(landings: Landings, moves: readonly MadeMove[]): ReadonlySet<number> {
  const likely = new Set<number>();
  for (const { pod, to } of moves.toReversed()) landings.takeBack(pod, to);
  for (const { pod, to } of moves) {
    for (const { node } of likelyOnes(landings.of(pod, Infinity))) likely.add(node);
    landings.move(pod, to);
  }
  return likely;
}
