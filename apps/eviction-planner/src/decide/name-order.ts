import { type ClusterSnapshot, NONE } from "./snapshot.ts";

/** The same cluster with its nodes in the order of their names, so that the order of rows decides nothing. */
export function inNameOrder(cluster: ClusterSnapshot): ClusterSnapshot {
  const order = [...cluster.nodes.keys()].sort((a, b) =>
    (cluster.nodes[a]?.name ?? "") < (cluster.nodes[b]?.name ?? "") ? -1 : 1,
  );
  if (order.every((node, index) => node === index)) return cluster;
  const placeOf = new Int32Array(order.length);
  order.forEach((node, index) => (placeOf[node] = index));
  return {
    ...cluster,
    nodes: order.flatMap((node) => cluster.nodes[node] ?? []),
    pods: {
      ...cluster.pods,
      node: Int32Array.from(cluster.pods.node, (node) => (node === NONE ? NONE : (placeOf[node] as number))),
    },
  };
}
