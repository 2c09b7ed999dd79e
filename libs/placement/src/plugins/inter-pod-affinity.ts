import type { Labels, PodAffinityTerm, PodShape } from "../facts.ts";
import { matcherOf } from "../label-selector.ts";

/** What a required affinity term of a pod that runs already adds for pods that it selects. */
export const REQUIRED_TERM_WEIGHT = 1;

export type NamespaceLabels = (namespace: string) => Labels;

/** Whether a term selects pods of a shape. */
export function termMatcher(
  { selector, namespaces }: PodAffinityTerm,
  labelsOf: NamespaceLabels,
): (shape: Pick<PodShape, "namespace" | "labels">) => boolean {
  const selects = matcherOf(selector);
  const selectsNamespace = matcherOf(namespaces.selector);
  const names = new Set(namespaces.names);
  return ({ namespace, labels }) => (names.has(namespace) || selectsNamespace(labelsOf(namespace))) && selects(labels);
}

/** Of 100, between the least and the most of all nodes that are scored. */
export function affinityScore(weight: number, least: number, most: number): number {
  return most > least ? Math.trunc(100 * ((weight - least) / (most - least))) : 0;
}
