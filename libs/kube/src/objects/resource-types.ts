import type * as models from "@kubernetes/client-node";
import type { KubeObject, ResourceTypeOf } from "./object.ts";
import type { Wire } from "./wire.ts";

export type Pod = Wire<models.V1Pod>;
export type Node = Wire<models.V1Node>;
export type Namespace = Wire<models.V1Namespace>;
export type Service = Wire<models.V1Service>;
export type Secret = Wire<models.V1Secret>;
export type ConfigMap = Wire<models.V1ConfigMap>;
export type ServiceAccount = Wire<models.V1ServiceAccount>;
export type Deployment = Wire<models.V1Deployment>;
export type ReplicaSet = Wire<models.V1ReplicaSet>;
export type StatefulSet = Wire<models.V1StatefulSet>;
export type ReplicationController = Wire<models.V1ReplicationController>;
export type Job = Wire<models.V1Job>;
export type PersistentVolume = Wire<models.V1PersistentVolume>;
export type PersistentVolumeClaim = Wire<models.V1PersistentVolumeClaim>;
export type CSINode = Wire<models.V1CSINode>;
export type EndpointSlice = Wire<models.V1EndpointSlice>;
export type Endpoints = Wire<models.V1Endpoints>;
export type Ingress = Wire<models.V1Ingress>;
export type HorizontalPodAutoscaler = Wire<models.V2HorizontalPodAutoscaler>;
export type PodDisruptionBudget = Wire<models.V1PodDisruptionBudget>;
export type Lease = Wire<models.V1Lease>;
export type Event = Wire<models.EventsV1Event>;
type ClusterRole = Wire<models.V1ClusterRole>;
type TokenReview = Wire<models.V1TokenReview>;
type SubjectAccessReview = Wire<models.V1SubjectAccessReview>;

/** Quantities by resource, such as `cpu` and `memory`. */
type ResourceUsage = Readonly<Record<string, string>>;

/** When usage was measured: over the `window` (a Go duration, such as `15.2s`) that ends at `timestamp`. */
interface Measurement extends KubeObject {
  readonly timestamp: string;
  readonly window: string;
}

export interface NodeMetrics extends Measurement {
  readonly usage: ResourceUsage;
}

/** It has no uid: a pod that replaced another of the same name is only known by the times. */
export interface PodMetrics extends Measurement {
  readonly containers: readonly { readonly name: string; readonly usage: ResourceUsage }[];
}

/** The fields of a CRD that controllers and tests use. Schemas are JSON Schema with Kubernetes' extensions. */
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: {
      readonly plural: string;
      readonly kind: string;
      readonly singular?: string;
      readonly listKind?: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly versions: readonly CustomResourceVersion[];
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
    readonly storedVersions?: readonly string[];
  };
}

interface CustomResourceVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema?: { readonly openAPIV3Schema: Readonly<Record<string, unknown>> };
  readonly subresources?: Readonly<Record<string, unknown>>;
  readonly additionalPrinterColumns?: readonly {
    readonly name: string;
    readonly type: string;
    readonly jsonPath: string;
    readonly description?: string;
    readonly priority?: number;
  }[];
}

function namespaced<T extends KubeObject>(apiVersion: string, kind: string, plural: string): ResourceTypeOf<T> {
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  return { group, version, kind, plural, namespaced: true };
}

function clusterWide<T extends KubeObject>(apiVersion: string, kind: string, plural: string): ResourceTypeOf<T> {
  return { ...namespaced<T>(apiVersion, kind, plural), namespaced: false };
}

export const pods = namespaced<Pod>("v1", "Pod", "pods");
export const services = namespaced<Service>("v1", "Service", "services");
export const secrets = namespaced<Secret>("v1", "Secret", "secrets");
export const configMaps = namespaced<ConfigMap>("v1", "ConfigMap", "configmaps");
export const serviceAccounts = namespaced<ServiceAccount>("v1", "ServiceAccount", "serviceaccounts");
export const nodes = clusterWide<Node>("v1", "Node", "nodes");
export const namespaces = clusterWide<Namespace>("v1", "Namespace", "namespaces");
export const deployments = namespaced<Deployment>("apps/v1", "Deployment", "deployments");
export const replicaSets = namespaced<ReplicaSet>("apps/v1", "ReplicaSet", "replicasets");
export const statefulSets = namespaced<StatefulSet>("apps/v1", "StatefulSet", "statefulsets");
export const replicationControllers = namespaced<ReplicationController>(
  "v1",
  "ReplicationController",
  "replicationcontrollers",
);
export const jobs = namespaced<Job>("batch/v1", "Job", "jobs");
export const persistentVolumes = clusterWide<PersistentVolume>("v1", "PersistentVolume", "persistentvolumes");
export const persistentVolumeClaims = namespaced<PersistentVolumeClaim>(
  "v1",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);
export const csiNodes = clusterWide<CSINode>("storage.k8s.io/v1", "CSINode", "csinodes");
export const endpointSlices = namespaced<EndpointSlice>("discovery.k8s.io/v1", "EndpointSlice", "endpointslices");
/** Deprecated by Kubernetes in favour of EndpointSlices since 1.33, and still served. */
export const endpoints = namespaced<Endpoints>("v1", "Endpoints", "endpoints");
export const horizontalPodAutoscalers = namespaced<HorizontalPodAutoscaler>(
  "autoscaling/v2",
  "HorizontalPodAutoscaler",
  "horizontalpodautoscalers",
);
export const ingresses = namespaced<Ingress>("networking.k8s.io/v1", "Ingress", "ingresses");
export const podDisruptionBudgets = namespaced<PodDisruptionBudget>(
  "policy/v1",
  "PodDisruptionBudget",
  "poddisruptionbudgets",
);
export const leases = namespaced<Lease>("coordination.k8s.io/v1", "Lease", "leases");
export const events = namespaced<Event>("events.k8s.io/v1", "Event", "events");
export const customResourceDefinitions = clusterWide<CustomResourceDefinition>(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
  "customresourcedefinitions",
);
export const clusterRoles = clusterWide<ClusterRole>("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles");

/** Served by metrics-server or another implementation of the metrics API. A LIST has one page and there is no watch. */
export const nodeMetrics = clusterWide<NodeMetrics>("metrics.k8s.io/v1beta1", "NodeMetrics", "nodes");
export const podMetrics = namespaced<PodMetrics>("metrics.k8s.io/v1beta1", "PodMetrics", "pods");

/** Reviews can only be created; the result is in the status of the response. */
export const tokenReviews = clusterWide<TokenReview>("authentication.k8s.io/v1", "TokenReview", "tokenreviews");
export const subjectAccessReviews = clusterWide<SubjectAccessReview>(
  "authorization.k8s.io/v1",
  "SubjectAccessReview",
  "subjectaccessreviews",
);
