import type { NodeFacts, PodShape } from "./facts.ts";
import { matchesNodeAffinity } from "./plugins/node-affinity.ts";
import { hasUntoleratedTaint, tolerates } from "./plugins/taint-toleration.ts";
import { inZonesOfVolumes, reachesVolumes } from "./plugins/volumes.ts";

/** Reasons that depend on the pod and the node alone, whatever else runs there. */
export type NodeReason =
  "NodeUnschedulable" | "NodeName" | "UntoleratedTaint" | "NodeAffinity" | "VolumeNodeAffinity" | "VolumeZone";

const UNSCHEDULABLE = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

export function whyNotNode(shape: PodShape, node: NodeFacts): NodeReason | undefined {
  if (node.unschedulable && !tolerates(shape.tolerations, UNSCHEDULABLE)) return "NodeUnschedulable";
  if (shape.nodeName !== null && shape.nodeName !== node.name) return "NodeName";
  if (hasUntoleratedTaint(node.taints, shape.tolerations)) return "UntoleratedTaint";
  if (!matchesNodeAffinity(shape, node)) return "NodeAffinity";
  if (!reachesVolumes(shape.volumes, node)) return "VolumeNodeAffinity";
  return inZonesOfVolumes(shape.volumes, node) ? undefined : "VolumeZone";
}

/** Equal for shapes for which {@link whyNotNode}, taints and preferences of nodes say the same. */
export function nodeFilterKey(shape: PodShape): string {
  const { nodeName, nodeSelector, requiredNodes, preferredNodes, tolerations, volumes } = shape;
  const places = volumes.map(({ nodeAffinity, zones }) => [nodeAffinity, zones]);
  return JSON.stringify([nodeName, nodeSelector, requiredNodes, preferredNodes, tolerations, places]);
}
