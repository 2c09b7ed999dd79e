import { matcherOf } from "@evenkeel/placement";
import type { ClusterSnapshot, PlanSnapshot } from "./snapshot.ts";

/** Percent, for a NodeClass that names none. */
const DEFAULT_WEIGHT = 10;

/** Which nodes the policy and the NodeClasses prefer. A NodeClass without a selector has no nodes. */
export class NodePreference {
  /** By workload kind, where the last element is for pods without one; null where no class is preferred. */
  readonly #weights: readonly (Float64Array | null)[];

  constructor({ cluster, policy }: PlanSnapshot) {
    const classes = nodeClassMembers(cluster);
    const preferred = new Set(policy.spec.nodeClassPreference);
    const weightsFor = (kind: string | undefined): Float64Array | null => {
      const wanted = classes.filter(
        ({ name, spec }) => preferred.has(name) || (kind !== undefined && spec.preferredFor?.includes(kind) === true),
      );
      if (wanted.length === 0) return null;
      const weights = new Float64Array(cluster.nodes.length);
      for (const { members, spec } of wanted) {
        for (const node of members) weights[node] = (weights[node] as number) + (spec.weight ?? DEFAULT_WEIGHT) / 100;
      }
      return weights;
    };
    this.#weights = [...cluster.pods.workloadKinds, undefined].map(weightsFor);
  }

  /** What the gain of a move counts more if the pod lands on the node: 0.1 is a tenth more. */
  bonus(workloadKind: number, node: number): number {
    return this.#weights.at(workloadKind)?.[node] ?? 0;
  }
}

/** The nodes of each NodeClass. */
export function nodeClassMembers({ nodes, nodeClasses }: ClusterSnapshot) {
  return nodeClasses.map(({ name, spec }) => {
    const { matchLabels = {}, matchExpressions = [] } = spec;
    const isEmpty = Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
    const matches = matcherOf(isEmpty ? null : { matchLabels, matchExpressions });
    return { name, spec, members: nodes.flatMap(({ labels }, node) => (matches(labels) ? [node] : [])) };
  });
}
