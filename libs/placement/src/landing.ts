import type { Group } from "./group.ts";

/** A node where a pod may come to run. */
export interface Landing {
  readonly node: number;
  readonly probability: number;
}

/** Nodes that are less likely than this in sum are left out. */
const NEGLIGIBLE = 1e-4;
const NIL = -1;

/** How many feasible nodes the scheduler looks for among all before it scores them. */
export function nodesToFind(nodes: number): number {
  if (nodes < 100) return nodes;
  const percentage = Math.max(5, 50 - Math.trunc(nodes / 125));
  return Math.max(100, Math.trunc((nodes * percentage) / 100));
}

/**
 * Where the scheduler puts a pod. It scores `scored` of the feasible nodes, which ones depends on where its search begins,
 * and takes the best of them; nodes with equal scores are equally likely. With more than `most` nodes, the last ones stand for
 * the others of their score.
 */
export function landings(
  groups: readonly Group[],
  feasible: number,
  scored: number,
  most: number,
  nextOf: (node: number) => number,
): readonly Landing[] {
  const result: Landing[] = [];
  const bases = groups.map(lowerTop);
  let examined = 0;
  /** The probability that none of the nodes examined so far is among those that are scored. */
  let none = 1;
  while (none > NEGLIGIBLE && examined < feasible && result.length < most) {
    const level = bases.reduce((best, base, at) => Math.max(best, base < 0 ? -1 : base + (groups[at]?.bonus ?? 0)), -1);
    const before = none;
    let count = 0;
    for (const [at, group] of groups.entries()) {
      const base = bases[at] ?? NIL;
      if (base >= 0 && base + group.bonus === level) count += group.sizes[base] ?? 0;
    }
    for (let index = 0; index < count && none > 0; index++, examined++) {
      none *= Math.max(0, feasible - scored - examined) / (feasible - examined);
    }
    const named = Math.min(count, most - result.length);
    const probability = (before - none) / named;
    let left = named;
    for (const [at, group] of groups.entries()) {
      const base = bases[at] ?? NIL;
      if (base < 0 || base + group.bonus !== level) continue;
      for (let node = group.heads[base] ?? NIL; node !== NIL && left > 0; node = nextOf(node), left--) {
        result.push({ node, probability });
      }
      bases[at] = nextBase(group, base - 1);
    }
  }
  return result.sort((one, other) => other.probability - one.probability || one.node - other.node);
}

/** The highest base score that a node of the group has. */
function lowerTop(group: Group): number {
  return (group.top = Math.max(0, nextBase(group, group.top)));
}

function nextBase({ sizes }: Group, from: number): number {
  let base = from;
  while (base >= 0 && sizes[base] === 0) base -= 1;
  return base;
}
