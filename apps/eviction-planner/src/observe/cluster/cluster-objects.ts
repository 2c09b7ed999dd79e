import { type KindNames, NODE_CLASS, WORKLOAD_SLO } from "@evenkeel/api";
import * as kube from "@evenkeel/kube";
import { Interned } from "./interned.ts";
import { type ObservedPod, PodObserver } from "./observed-pod.ts";

/** The objects that a plan depends on. Sources are stores that follow a cluster, LISTs of a cluster, and files. */
export interface ClusterObjects {
  readonly nodes: Iterable<kube.Node>;
  readonly pods: Iterable<ObservedPod>;
  readonly namespaces: Iterable<kube.Namespace>;
  readonly deployments: Iterable<kube.Deployment>;
  readonly replicaSets: Iterable<kube.ReplicaSet>;
  readonly statefulSets: Iterable<kube.StatefulSet>;
  readonly replicationControllers: Iterable<kube.ReplicationController>;
  readonly disruptionBudgets: Iterable<kube.PodDisruptionBudget>;
  readonly claims: Iterable<kube.PersistentVolumeClaim>;
  readonly volumes: Iterable<kube.PersistentVolume>;
  readonly csiNodes: Iterable<kube.CSINode>;
  readonly slos: Iterable<CustomObject>;
  readonly nodeClasses: Iterable<CustomObject>;
}

/** A custom resource as the API server stores it: its spec is parsed when it is used. */
export type CustomObject = kube.KubeObject & { readonly spec?: unknown };

export type ObservedKind = keyof ClusterObjects;

/** One kind of object: how it is read, and how much of each object is kept. */
export interface ObservedType<Kept extends kube.KubeObject = kube.KubeObject> {
  readonly type: kube.ResourceTypeOf<kube.KubeObject>;
  readonly keep: (object: kube.KubeObject) => Kept;
  /** A cluster may not have this kind: the custom resources may not be installed. */
  readonly isOptional: boolean;
}

export type ObservedTypes = {
  readonly [Kind in ObservedKind]: ObservedType<
    ClusterObjects[Kind] extends Iterable<infer Kept extends kube.KubeObject> ? Kept : never
  >;
};

/** Every kind that is observed. Equal parts of objects that one of these tables keeps are kept once. */
export function observedTypes(): ObservedTypes {
  const pods = new PodObserver();
  const images = new Interned<object>();
  const keepNode = kube.keepOnly<kube.Node>(
    ...["metadata.labels", "spec.unschedulable", "spec.taints"],
    ...["allocatable", "conditions", "images"].map((field) => `status.${field}`),
  );
  return {
    nodes: observed(kube.nodes, (node) => withSharedImages(keepNode(node), images)),
    pods: observed<kube.Pod, ObservedPod>(kube.pods, pods.observe),
    namespaces: observed(kube.namespaces, kube.keepOnly("metadata.labels")),
    deployments: observed(kube.deployments, kube.keepOnly(...scaled("paused", "strategy"), "status")),
    replicaSets: observed(kube.replicaSets, kube.keepOnly(...scaled("selector"), "status.observedGeneration")),
    statefulSets: observed(
      kube.statefulSets,
      kube.keepOnly(...scaled("selector", "updateStrategy", "ordinals"), "status"),
    ),
    replicationControllers: observed(kube.replicationControllers, kube.keepOnly(...scaled("selector"))),
    disruptionBudgets: observed(kube.podDisruptionBudgets, kube.keepOnly("spec", "status")),
    claims: observed(kube.persistentVolumeClaims, kube.keepOnly("spec.volumeName", "spec.accessModes")),
    volumes: observed(
      kube.persistentVolumes,
      kube.keepOnly(
        ...["metadata.labels", "spec.nodeAffinity", "spec.csi.driver", "spec.csi.volumeHandle"],
        ...["spec.local", "spec.hostPath"],
      ),
    ),
    csiNodes: observed(kube.csiNodes, kube.keepOnly("spec")),
    slos: custom(WORKLOAD_SLO),
    nodeClasses: custom(NODE_CLASS),
  };
}

const scaled = (...fields: readonly string[]): readonly string[] => [
  "metadata.ownerReferences",
  ...["replicas", "minReadySeconds", ...fields].map((field) => `spec.${field}`),
];

function observed<T extends kube.KubeObject, Kept extends kube.KubeObject = T>(
  type: kube.ResourceTypeOf<T>,
  keep: (object: T) => Kept,
): ObservedType<Kept> {
  return { type, keep: keep as (object: kube.KubeObject) => Kept, isOptional: false };
}

function custom({ group, version, kind, plural, scope }: KindNames): ObservedType<CustomObject> {
  const type = { group, version, kind, plural, namespaced: scope === "Namespaced" };
  return { type, keep: kube.keepOnly<CustomObject>("spec", "status"), isOptional: true };
}

/** Nodes of one pool have the same images, and the lists of them are most of a Node. */
function withSharedImages(node: kube.Node, shared: Interned<object>): kube.Node {
  const images = node.status?.images;
  if (images === undefined) return node;
  return { ...node, status: { ...node.status, images: images.map((image) => shared.one(image) as typeof image) } };
}
