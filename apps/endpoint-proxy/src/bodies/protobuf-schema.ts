/** A field of a message of Kubernetes' API: its number, and what it contains. */
export interface FieldSchema {
  readonly number: number;
  /** `map` has text values unless it has `message`. `opaque` is not read: it is removed, or set to texts. */
  readonly type: "text" | "int" | "bool" | "map" | "message" | "list" | "opaque";
  readonly message?: MessageSchema;
}

export type MessageSchema = Readonly<Record<string, FieldSchema>>;

const text = (number: number): FieldSchema => ({ number, type: "text" });
const int = (number: number): FieldSchema => ({ number, type: "int" });
const bool = (number: number): FieldSchema => ({ number, type: "bool" });
const opaque = (number: number): FieldSchema => ({ number, type: "opaque" });
const map = (number: number, message?: MessageSchema): FieldSchema =>
  message === undefined ? { number, type: "map" } : { number, type: "map", message };
const message = (number: number, message: MessageSchema): FieldSchema => ({
  number,
  type: "message",
  message,
});
const list = (number: number, message: MessageSchema): FieldSchema => ({
  number,
  type: "list",
  message,
});

/** All of it, because it is written anew. */
const OWNER_REFERENCE: MessageSchema = {
  ...{ kind: text(1), name: text(3), uid: text(4), apiVersion: text(5) },
  ...{ controller: bool(6), blockOwnerDeletion: bool(7) },
};

/**
 * The numbers are those of k8s.io/apimachinery and k8s.io/api, generated.proto. Only what the proxy reads or changes.
 */
const OBJECT_META: MessageSchema = {
  name: text(1),
  generateName: text(2),
  namespace: text(3),
  selfLink: text(4),
  uid: text(5),
  resourceVersion: text(6),
  generation: opaque(7),
  creationTimestamp: opaque(8),
  deletionTimestamp: opaque(9),
  deletionGracePeriodSeconds: opaque(10),
  labels: map(11),
  annotations: map(12),
  ownerReferences: list(13, OWNER_REFERENCE),
  finalizers: opaque(14),
  managedFields: opaque(17),
};

const QUANTITY: MessageSchema = { string: text(1) };
const CONTAINER: MessageSchema = {
  name: text(1),
  resources: message(8, {
    limits: map(1, QUANTITY),
    requests: map(2, QUANTITY),
  }),
  restartPolicy: text(24),
};
const POD_SPEC: MessageSchema = {
  containers: list(2, CONTAINER),
  initContainers: list(20, CONTAINER),
  overhead: map(32, QUANTITY),
};

const WORKLOAD: MessageSchema = {
  metadata: message(1, OBJECT_META),
  spec: message(2, {
    replicas: int(1),
    template: message(3, {
      metadata: message(1, OBJECT_META),
      spec: message(2, POD_SPEC),
    }),
  }),
  status: opaque(3),
};

const OTHER: MessageSchema = {
  metadata: message(1, OBJECT_META),
  spec: opaque(2),
  status: opaque(3),
};

const BY_KIND: Readonly<Record<string, MessageSchema>> = {
  Deployment: WORKLOAD,
  StatefulSet: WORKLOAD,
  Scale: { ...OTHER, spec: message(2, { replicas: int(1) }) },
  Service: {
    ...OTHER,
    spec: message(2, {
      ...{ clusterIP: text(3), clusterIPs: opaque(18), ipFamilies: opaque(19) },
      healthCheckNodePort: int(12),
    }),
  },
  PersistentVolume: {
    ...OTHER,
    spec: message(2, {
      claimRef: message(4, {
        ...{ kind: text(1), namespace: text(2), name: text(3), uid: text(4) },
        ...{ apiVersion: text(5), resourceVersion: text(6), fieldPath: text(7) },
      }),
    }),
  },
  PersistentVolumeClaim: { ...OTHER, spec: message(2, { volumeName: text(3) }) },
  Namespace: { ...OTHER, spec: message(2, { finalizers: opaque(1) }) },
  DeleteOptions: {
    preconditions: message(2, { uid: text(1), resourceVersion: text(2) }),
  },
};

export function schemaOf(kind: string): MessageSchema {
  return BY_KIND[kind] ?? OTHER;
}

/** Where a map of quantities keeps its value. */
export const QUANTITY_TEXT = "string";
