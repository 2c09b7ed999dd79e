import * as kube from "@evenkeel/kube";
import { SERVICE_NAME } from "./endpoint-slice.ts";

/** By what the objects that use a changed object are found. */
export type ObjectIndex = "namespace" | "node" | "controller" | "service" | "pod";

type Indexes<T> = Readonly<Record<ObjectIndex, (object: T) => readonly string[]>>;

interface Followable<T extends kube.KubeObject> {
  readonly type: kube.ResourceTypeOf<T>;
  /** Cuts an object down to what roles and indexes read. */
  readonly keep: (object: T) => T;
  readonly indexes: Indexes<T>;
}

const METADATA = ["metadata.labels", "metadata.annotations"];
const OWNERS = "metadata.ownerReferences";

const byNamespace = ({ metadata }: kube.KubeObject): readonly string[] => [metadata.namespace ?? ""];
const none = (): readonly string[] => [];

/** `ReplicaSet/shop/web-5d4`. */
export function controllerKey(kind: string, namespace: string | undefined, name: string): string {
  return `${kind}/${namespace ?? ""}/${name}`;
}

function followable<T extends kube.KubeObject>(
  type: kube.ResourceTypeOf<T>,
  paths: readonly string[],
  indexes: Partial<Indexes<T>> = {},
): Followable<kube.KubeObject> {
  const all = { namespace: byNamespace, node: none, controller: none, service: none, pod: none, ...indexes };
  return { type, keep: kube.keepOnly<T>(...paths), indexes: all } as unknown as Followable<kube.KubeObject>;
}

const containers = ["containers", "initContainers"].flatMap((list) =>
  ["name", "image", "ports"].map((field) => `spec.${list}.${field}`),
);
const statuses = ["containerStatuses", "initContainerStatuses"].flatMap((list) =>
  ["name", "containerID"].map((field) => `status.${list}.${field}`),
);

interface Reference {
  readonly nodeName?: string;
  readonly targetRef?: { readonly kind?: string; readonly namespace?: string; readonly name?: string };
}

type Subset = NonNullable<kube.Endpoints["subsets"]>[number];

const addressesOf = ({ addresses = [], notReadyAddresses = [] }: Subset): readonly Reference[] => [
  ...addresses,
  ...notReadyAddresses,
];

/** The API server writes an empty list of endpoints as null. */
const endpointsOf = (endpoints: readonly Reference[] | null | undefined): readonly Reference[] => endpoints ?? [];

function nodesOf({ nodeName, targetRef }: Reference): readonly string[] {
  const target = targetRef?.kind === "Node" ? targetRef.name : undefined;
  return [nodeName, target].filter((name) => name !== undefined);
}

function podsOf({ targetRef }: Reference): readonly string[] {
  return targetRef?.kind === "Pod" ? [`${targetRef.namespace ?? ""}/${targetRef.name ?? ""}`] : [];
}

const followedTypes = {
  pods: followable(
    kube.pods,
    [
      ...[...METADATA, OWNERS, "spec.nodeName", ...containers, ...statuses],
      ...["podIP", "hostIP", "phase", "conditions.type", "conditions.status"].map((field) => `status.${field}`),
    ],
    {
      node: ({ spec }) => (spec?.nodeName === undefined ? [] : [spec.nodeName]),
      controller: (pod) => {
        const controller = kube.controllerOf(pod);
        return controller ? [controllerKey(controller.kind, pod.metadata.namespace, controller.name)] : [];
      },
    },
  ),
  nodes: followable(kube.nodes, [
    ...[...METADATA, "spec.providerID", "status.addresses", "status.daemonEndpoints"],
    ...["status.conditions.type", "status.conditions.status"],
  ]),
  namespaces: followable(kube.namespaces, METADATA),
  services: followable(kube.services, [...METADATA, "spec", "status.loadBalancer"]),
  endpoints: followable(kube.endpoints, [...METADATA, "subsets"], {
    service: (object) => [kube.keyOf(object)],
    node: ({ subsets = [] }) => subsets.flatMap(addressesOf).flatMap(nodesOf),
    pod: ({ subsets = [] }) => subsets.flatMap(addressesOf).flatMap(podsOf),
  }),
  endpointSlices: followable(kube.endpointSlices, [...METADATA, "addressType", "endpoints", "ports"], {
    service: ({ metadata }) => {
      const name = metadata.labels?.[SERVICE_NAME];
      return name === undefined ? [] : [`${metadata.namespace ?? ""}/${name}`];
    },
    node: ({ endpoints }) => endpointsOf(endpoints).flatMap(nodesOf),
    pod: ({ endpoints }) => endpointsOf(endpoints).flatMap(podsOf),
  }),
  ingresses: followable(kube.ingresses, [...METADATA, "spec.ingressClassName", "spec.rules", "spec.tls.hosts"]),
  replicaSets: followable(kube.replicaSets, [OWNERS]),
  jobs: followable(kube.jobs, [OWNERS]),
};

export type FollowedType = keyof typeof followedTypes;

export const followed: Readonly<Record<FollowedType, Followable<kube.KubeObject>>> = followedTypes;

interface FollowedObjects {
  readonly pods: kube.Pod;
  readonly nodes: kube.Node;
  readonly namespaces: kube.Namespace;
  readonly services: kube.Service;
  readonly endpoints: kube.Endpoints;
  readonly endpointSlices: kube.EndpointSlice;
  readonly ingresses: kube.Ingress;
  readonly replicaSets: kube.ReplicaSet;
  readonly jobs: kube.Job;
}

export type FollowedObject<Type extends FollowedType> = FollowedObjects[Type];
