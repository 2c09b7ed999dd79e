import type { Schema } from "../schema/schema.ts";

const strings: Schema = { type: "object", additionalProperties: { type: "string" } };

/** What every object's metadata looks like. */
const metadataSchema: Schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    generateName: { type: "string" },
    namespace: { type: "string" },
    uid: { type: "string" },
    resourceVersion: { type: "string" },
    selfLink: { type: "string" },
    generation: { type: "integer" },
    creationTimestamp: { type: "string", nullable: true },
    deletionTimestamp: { type: "string" },
    deletionGracePeriodSeconds: { type: "integer" },
    labels: strings,
    annotations: strings,
    finalizers: {
      type: "array",
      items: { type: "string" },
      "x-kubernetes-list-type": "set",
      "x-kubernetes-patch-strategy": "merge",
    },
    ownerReferences: {
      type: "array",
      items: {
        type: "object",
        required: ["apiVersion", "kind", "name", "uid"],
        "x-kubernetes-preserve-unknown-fields": true,
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "uid",
    },
    managedFields: { type: "array", items: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  },
};

/** The schema of whole objects from that of their own fields. */
export function objectSchema(own: Schema): Schema {
  const text: Schema = { type: "string" };
  return {
    ...own,
    type: "object",
    properties: { ...own.properties, apiVersion: text, kind: text, metadata: metadataSchema },
  };
}
