/** The fields of a Kubernetes object that this library reads. Times are strings, as on the wire. */
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

/** The name of one object of a known type. */
export interface ObjectName {
  /** Absent for cluster-scoped types. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** A type, as in the paths of the API server. `group` is empty for the core group. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** A type together with the type of its objects. */
export interface ResourceTypeOf<T extends KubeObject> extends ResourceType {
  /** Never set: it ties the type of the objects to the descriptor, so that `client.resource(pods)` returns pods. */
  readonly object?: T;
}
