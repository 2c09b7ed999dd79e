import type { NodeFacts, PodShape } from "./facts.ts";
import type { Feature } from "./features.ts";
import { type NodeReason, whyNotNode } from "./node-filters.ts";
import { preferredWeight } from "./plugins/node-affinity.ts";
import { intolerableTaints } from "./plugins/taint-toleration.ts";
import { NO_DOMAIN } from "./topology.ts";

/** The kind of nodes that a filter excludes whatever runs there. */
export const EXCLUDED = 0xffff;

/** What a shape finds alike in nodes, and what never changes. */
export interface NodeKind {
  /** PreferNoSchedule taints that the pod does not tolerate. */
  readonly taints: number;
  /** The weight of preferred terms that match. */
  readonly preference: number;
  /** Codes of an empty cluster: the domain of coarse features; 0 or, without the label, NO_DOMAIN of fine ones. */
  readonly codes: Int32Array;
}

export interface NodeKinds {
  readonly kindOf: Uint16Array;
  readonly kinds: readonly NodeKind[];
  /** By node; undefined where it is not excluded. */
  readonly reasons: readonly (NodeReason | undefined)[];
}

/**
 * Sorts nodes into kinds. Shapes with the same node filters and features of the same topologies can share the result.
 */
export function nodeKinds(shape: PodShape, features: readonly Feature[], nodes: readonly NodeFacts[]): NodeKinds {
  const kinds: NodeKind[] = [];
  const known = new Map<string, number>();
  const reasons = nodes.map((node) => whyNotNode(shape, node));
  const kindOf = Uint16Array.from(nodes, (node, index) => {
    if (reasons[index] !== undefined) return EXCLUDED;
    const codes = Int32Array.from(features, ({ counter, isCoarse }) => {
      const domain = counter.topology.domainOf[index] ?? NO_DOMAIN;
      return isCoarse || domain === NO_DOMAIN ? domain : 0;
    });
    const kind = {
      taints: node.taints.length === 0 ? 0 : intolerableTaints(node.taints, shape.tolerations),
      preference: shape.preferredNodes.length === 0 ? 0 : preferredWeight(shape, node),
      codes,
    };
    const key = `${kind.taints} ${kind.preference} ${codes.join(" ")}`;
    const at = known.get(key) ?? kinds.push(kind) - 1;
    known.set(key, at);
    return at;
  });
  return { kindOf, kinds, reasons };
}
