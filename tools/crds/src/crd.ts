import type { Kind } from "@evenkeel/api";
import type { z } from "zod";
import { structuralSchema, type StructuralSchema } from "./structural-schema.ts";

/** The CustomResourceDefinition of a kind, as the API server takes it. */
export function customResourceDefinition(kind: Kind): object {
  const { group, version, plural, singular, shortNames, scope, printerColumns, scale } = kind;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular,
        ...(shortNames.length > 0 ? { shortNames } : {}),
      },
      scope,
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(printerColumns.length > 0 ? { additionalPrinterColumns: printerColumns } : {}),
          subresources: { status: {}, ...(scale ? { scale } : {}) },
          schema: { openAPIV3Schema: openApiSchema(kind) },
        },
      ],
    },
  };
}

/**
 * The schema of the whole object. Identity and metadata are the API server's own to check. `spec` is neither required
 * nor given a default: the originals' CRDs store an object without one as it is.
 */
export function openApiSchema(kind: Kind): StructuralSchema {
  const { spec, status } = kind.schema.shape as { spec: z.ZodType; status: z.ZodType };
  const specSchema = structuralSchema(spec);
  delete specSchema.default;
  return {
    description: kind.description,
    type: "object",
    properties: {
      apiVersion: { description: "Group and version of this object's kind.", type: "string" },
      kind: { description: "Kind of this object.", type: "string" },
      metadata: { type: "object" },
      spec: specSchema,
      status: structuralSchema(status),
    },
  };
}
