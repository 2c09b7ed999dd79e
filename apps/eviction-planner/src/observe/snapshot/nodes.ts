import type { CSINode, Node } from "@evenkeel/kube";
import { nodeFacts, type PodShape } from "@evenkeel/placement";
import type { NodeRow } from "../../decide/snapshot.ts";
import type { Measured } from "../usage/usage.ts";
import { isCurrent } from "./current-usage.ts";

/** Taints of nodes that an autoscaler is about to remove. */
const REMOVAL_TAINTS = ["ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted"];

/** A node with its usage, which is null unless it was measured lately and the node has a size to relate it to. */
export function nodeRow(node: Node, csiNode: CSINode | undefined, measured: Measured | undefined, at: number): NodeRow {
  const facts = nodeFacts(node, csiNode);
  const { cpu = 0, memory = 0 } = facts.allocatable;
  const isUsable = measured !== undefined && cpu > 0 && memory > 0 && isCurrent(measured, at);
  const isWhole = isUsable && measured.cpu >= 0 && measured.memory >= 0;
  return {
    ...facts,
    available: isAvailable(node),
    usage: isWhole ? { cpu: measured.cpu, memory: measured.memory } : null,
    ...(isWhole && measured.window >= 0 && { measuredSince: measured.at - measured.window }),
  };
}

function isAvailable({ metadata, spec, status }: Node): boolean {
  const isReady = status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;
  const isLeaving = spec?.taints?.some(({ key }) => REMOVAL_TAINTS.includes(key)) ?? false;
  return isReady && !isLeaving && metadata.deletionTimestamp === undefined;
}

/**
 * Nodes with only the images that some pod runs, by the names that pods use: no other has an effect, and nodes report
 * many.
 */
export function withUsedImages(nodes: readonly NodeRow[], shapes: readonly PodShape[]): readonly NodeRow[] {
  const used = new Set(shapes.flatMap(({ images }) => images));
  return nodes.map((node) => ({
    ...node,
    images: node.images
      .map(({ names, sizeBytes }) => ({ names: names.filter((name) => used.has(name)), sizeBytes }))
      .filter(({ names }) => names.length > 0),
  }));
}
