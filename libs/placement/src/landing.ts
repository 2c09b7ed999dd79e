import type { Group } from "./group.ts";
import type { NodeLists } from "./node-lists.ts";

/** A node where a pod may come to run. */
export interface Landing {
  readonly node: number;
  readonly probability: number;
}

/** Nodes that are less likely than this in sum are left out. */
const NEGLIGIBLE = 1e-4;

/**
 * How often the first of equals wins: 0.8 of the time where the order of the search is known (measured), about as often
 * as any other where it is not. A scheduler that was restarted searches by name, one that was not by age of the nodes.
 */
const FIRST_OF_EQUALS = 0.6;

/** How many feasible nodes the scheduler looks for among all before it scores them. */
export function nodesToFind(nodes: number): number {
  if (nodes < 100) return nodes;
  const percentage = Math.max(5, 50 - Math.trunc(nodes / 125));
  return Math.max(100, Math.trunc((nodes * percentage) / 100));
}

/**
 * Where the scheduler puts a pod. It scores `scored` of the feasible nodes, which ones depends on where its search
 * begins, and takes the best of them; nodes with equal scores are equally likely here. With more than `most` nodes, the
 * last ones stand for the others of their score.
 */
export function landings(
  groups: readonly Group[],
  lists: NodeLists,
  { feasible, scored, most }: { readonly feasible: number; readonly scored: number; readonly most: number },
): readonly Landing[] {
  const result: Landing[] = [];
  const level: Group[] = [];
  let isSorted = true;
  let last = 1;
  let examined = 0;
  /** The probability that none of the nodes examined so far is among those that are scored. */
  let none = 1;
  for (const group of groups) group.restart();
  while (none > NEGLIGIBLE && examined < feasible && result.length < most) {
    const count = nextLevel(groups, level);
    const before = none;
    for (let index = 0; index < count; index++, examined++) {
      none *= Math.max(0, feasible - scored - examined) / (feasible - examined);
    }
    let left = Math.min(count, most - result.length);
    const probability = (before - none) / left;
    if (probability > last) isSorted = false;
    last = probability;
    for (const group of level) {
      const named = Math.min(group.count(group.base), left);
      // The next node is looked up only where there is one: looking costs more than all else here.
      for (let index = 0, node = group.first(group.base); index < named; index++) {
        result.push({ node, probability });
        if (index + 1 < named) node = lists.next(node);
      }
      left -= named;
      group.base -= 1;
    }
  }
  return isSorted ? result : result.sort((one, other) => other.probability - one.probability);
}

/** Gives the first of nodes with equal scores its due; the others share the rest. */
export function favourFirst(equals: readonly Landing[], first: number): readonly Landing[] {
  const sum = equals.reduce((total, { probability }) => total + probability, 0);
  const rest = (sum * (1 - FIRST_OF_EQUALS)) / (equals.length - 1);
  return equals
    .map(({ node }) => ({ node, probability: node === first ? sum * FIRST_OF_EQUALS : rest }))
    .sort((one, other) => other.probability - one.probability);
}

/** Fills `level` with the groups that have nodes of the best score that is left, and tells how many nodes that are. */
function nextLevel(groups: readonly Group[], level: Group[]): number {
  for (;;) {
    let best = -1;
    for (const { base, bonus } of groups) if (base >= 0 && base + bonus > best) best = base + bonus;
    let count = 0;
    level.length = 0;
    for (const group of groups) {
      // A group that goes down has no node of this score after all.
      if (group.base < 0 || group.base + group.bonus !== best || group.settle()) continue;
      level.push(group);
      count += group.count(group.base);
    }
    if (count > 0 || best < 0) return count;
  }
}
