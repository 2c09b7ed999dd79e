import type { Kind } from "@evenkeel/api";

/**
 * A CRD under which a user of an original may have stored objects: the same names, and a schema that keeps every field
 * as it was written. It checks and fills in nothing, so whatever an original's CRD let in is let in here too, and none
 * of it was touched by this project's schema before.
 */
export function originalShape({ group, version, kind, plural, singular, scope }: Kind): object {
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const openAPIV3Schema = { type: "object", properties: { spec: anything, status: anything } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, plural, singular },
      versions: [
        { name: version, served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema } },
      ],
    },
  };
}
