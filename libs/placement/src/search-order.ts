import type { NodeFacts } from "./facts.ts";

const REGION = "topology.kubernetes.io/region";
const ZONE = "topology.kubernetes.io/zone";

/**
 * Nodes as the scheduler searches them: zones take turns, each with its nodes in the order in which they came. The
 * order of `nodes` is taken for that.
 */
export function searchOrder(nodes: readonly NodeFacts[]): readonly number[] {
  const zones = new Map<string, number[]>();
  nodes.forEach(({ labels }, node) => {
    const zone = `${labels[REGION] ?? ""}/${labels[ZONE] ?? ""}`;
    const members = zones.get(zone);
    if (members === undefined) zones.set(zone, [node]);
    else members.push(node);
  });
  const lists = [...zones.values()];
  const longest = Math.max(...lists.map(({ length }) => length), 0);
  return Array.from({ length: longest }, (_, turn) => lists.flatMap((members) => members[turn] ?? [])).flat();
}

/**
 * Which of several places in the list of scored nodes wins a tie: the scheduler makes a heap of the list, so that a
 * place comes before its two branches, and the left branch before the right one.
 */
export function tieOrder(one: number, other: number): number {
  // Numbered from 1, the binary digits of a place are its way from the root: 1, then 0 for left and 1 for right.
  let [a, b] = [one + 1, other + 1];
  const [depthOfOne, depthOfOther] = [Math.clz32(a), Math.clz32(b)];
  if (depthOfOne < depthOfOther) a >>= depthOfOther - depthOfOne;
  else b >>= depthOfOne - depthOfOther;
  return a - b || depthOfOther - depthOfOne;
}
