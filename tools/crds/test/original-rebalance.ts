import type { StructuralSchema } from "../src/index.ts";

const text: StructuralSchema = { type: "string" };
const flag: StructuralSchema = { type: "boolean" };
const int64: StructuralSchema = { type: "integer", format: "int64" };
const secretKey = object({ name: text, namespace: text, key: text });

function object(properties: Record<string, StructuralSchema>, ...required: readonly string[]): StructuralSchema {
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
}

function oneOf(properties: Record<string, StructuralSchema>): StructuralSchema {
  return { ...object(properties), minProperties: 1, maxProperties: 1 };
}

/** The spec in the CRD of weight-rebalancer's original: its fields, and all that it asks of them. */
export const ORIGINAL_REBALANCE_SPEC: StructuralSchema = object(
  {
    interval: text,
    dryRun: { ...flag, default: false },
    policy: oneOf({
      targettracking: object(
        {
          targetValue: int64,
          baseValue: int64,
          disableScaleIn: flag,
          minimum: int64,
          scheduled: {
            type: "array",
            items: object({ startTime: text, endTime: text, value: int64 }, "startTime", "endTime", "value"),
          },
        },
        "targetValue",
        "baseValue",
      ),
    }),
    target: oneOf({
      route53: object(
        {
          hostedZoneID: text,
          region: text,
          resource: object({ name: text, type: text, identifier: text }, "name", "type"),
          auth: object({
            secretRef: object({ accessKeyIDSecretRef: secretKey, secretAccessKeySecretRef: secretKey }),
          }),
        },
        "hostedZoneID",
        "resource",
      ),
    }),
    metrics: oneOf({
      prometheus: object(
        {
          address: text,
          query: text,
          timeout: int64,
          auth: object({ secretRef: object({ userSecretRef: secretKey, passwordSecretRef: secretKey }) }),
        },
        "address",
        "query",
      ),
    }),
  },
  "policy",
  "target",
  "metrics",
);
