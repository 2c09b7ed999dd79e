/** The part of every Kubernetes object that this library reads. Times are strings, as on the wire. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly unknown[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Names one object of a known type. */
export interface ObjectName {
  /** Absent for cluster-scoped types. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** A type as the API server's paths name it. `group` is empty for the core group. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** A type together with the objects that it holds. */
export interface ResourceTypeOf<T extends KubeObject> extends ResourceType {
  /** Never there: it ties the objects' type to the descriptor, so that `client.resource(pods)` gives pods. */
  readonly object?: T;
}
