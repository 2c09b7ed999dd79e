import { type ClusterSnapshot, NONE } from "./snapshot.ts";

/**
 * The same cluster with nodes, disruption budgets and SLOs in the order of their names, so that the order of rows
 * decides nothing.
 */
export function inNameOrder(cluster: ClusterSnapshot): ClusterSnapshot {
  const order = [...cluster.nodes.keys()].sort((a, b) =>
    compare(cluster.nodes[a]?.name ?? "", cluster.nodes[b]?.name ?? ""),
  );
  const placeOf = new Int32Array(order.length);
  order.forEach((node, index) => (placeOf[node] = index));
  return {
    ...cluster,
    nodes: order.flatMap((node) => cluster.nodes[node] ?? []),
    disruptionBudgets: cluster.disruptionBudgets.toSorted(byName),
    slos: cluster.slos.toSorted(byName),
    nodeClasses: cluster.nodeClasses.toSorted((a, b) => compare(a.name, b.name)),
    pods: {
      ...cluster.pods,
      node: new Int32Array(cluster.pods.node.length).map((_, pod) => placeOf[cluster.pods.node[pod] as number] ?? NONE),
    },
  };
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

function byName(a: Named, b: Named): number {
  return compare(a.namespace, b.namespace) || compare(a.name, b.name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
