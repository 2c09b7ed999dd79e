import type { NodeFacts, PodShape } from "../facts.ts";
import { containsAll } from "../label-selector.ts";
import { matchesTerm, matchesTerms } from "../node-selector.ts";

export function matchesNodeAffinity({ nodeSelector, requiredNodes }: PodShape, node: NodeFacts): boolean {
  return containsAll(node.labels, nodeSelector) && (requiredNodes === null || matchesTerms(requiredNodes, node));
}

/** The sum of the weights of the preferred terms that the node matches. */
export function preferredWeight({ preferredNodes }: PodShape, node: NodeFacts): number {
  return preferredNodes.reduce((sum, { weight, term }) => (matchesTerm(term, node) ? sum + weight : sum), 0);
}

/** Of 100, in proportion to the most that a node has. */
export function nodeAffinityScore(weight: number, most: number): number {
  return most === 0 ? 0 : Math.trunc((100 * weight) / most);
}
