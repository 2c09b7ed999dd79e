import type { Job, Namespace, Node, Pod, ReplicaSet, Service } from "@evenkeel/kube";
import type { LabelDraft, MetaNames } from "./meta-labels.ts";

/**
 * The objects around the one that a group of targets is made of. A lookup is absent where the block does not ask for
 * the metadata.
 */
export interface Surroundings {
  readonly names: MetaNames;
  /** By `namespace/name`, as all namespaced lookups. */
  readonly service: (key: string) => Service | undefined;
  readonly pod: (key: string) => Pod | undefined;
  readonly node?: ((name: string) => Node | undefined) | undefined;
  readonly namespace?: ((name: string) => Namespace | undefined) | undefined;
  /** For `attach_metadata.deployment`. */
  readonly replicaSet?: ((key: string) => ReplicaSet | undefined) | undefined;
  /** For `attach_metadata.cronjob`. */
  readonly job?: ((key: string) => Job | undefined) | undefined;
  /** `attach_metadata.job`. */
  readonly attachJob: boolean;
}

/** Adds name, labels and annotations of a node, if it is asked for and seen. */
export function addNode(labels: LabelDraft, name: string | undefined, { node, names }: Surroundings): void {
  const found = name === undefined ? undefined : node?.(name);
  if (found) names.addObject(labels, found, "node");
}

/** Adds labels and annotations of a namespace, if they are asked for and it is seen. */
export function addNamespace(labels: LabelDraft, name: string | undefined, { namespace, names }: Surroundings): void {
  const found = name === undefined ? undefined : namespace?.(name);
  if (found) names.addMetadata(labels, found, "namespace");
}
