import { z } from "zod";

/** The keywords of OpenAPI v3 that a CRD's schema uses here. */
export interface StructuralSchema {
  description?: string;
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  format?: string;
  enum?: readonly (string | number)[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  items?: StructuralSchema;
  minProperties?: number;
  maxProperties?: number;
  required?: readonly string[];
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  "x-kubernetes-preserve-unknown-fields"?: true;
  "x-kubernetes-int-or-string"?: true;
  "x-kubernetes-map-type"?: "atomic";
  "x-kubernetes-list-type"?: "map" | "set" | "atomic";
  "x-kubernetes-list-map-keys"?: readonly string[];
  "x-kubernetes-validations"?: readonly { rule: string; message: string; fieldPath?: string }[];
}

/**
 * Every keyword, in the order it is written. One that is not listed stops the generator rather than reach a cluster.
 */
const KEYWORDS = [
  "description",
  "type",
  "format",
  "enum",
  "default",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "required",
  "properties",
  "additionalProperties",
  "items",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-int-or-string",
  "x-kubernetes-map-type",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-validations",
] as const satisfies readonly (keyof StructuralSchema)[];

/**
 * The structural schema of what `schema` takes in. Throws on what such a schema cannot say: unions, tuples, transforms
 * that hide the input's type, and any keyword that is not known here.
 */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  return structural(z.toJSONSchema(schema, { target: "openapi-3.0", io: "input" }), "(root)");
}

function structural(source: object, path: string): StructuralSchema {
  const found = new Map<string, unknown>(Object.entries(withIntegerType(source)));
  const schema: Record<string, unknown> = {};
  for (const keyword of KEYWORDS) {
    if (found.has(keyword)) schema[keyword] = found.get(keyword);
    found.delete(keyword);
  }
  if (found.size > 0)
    throw new Error(`${path}: a CRD has no ${[...found.keys()].join(", ")}; express the field otherwise`);
  const isOpen = ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"].some((word) => schema[word]);
  if (schema["type"] === undefined && !isOpen) {
    throw new Error(`${path}: a CRD needs a type; use freeForm() where any value is meant`);
  }
  if (schema["additionalProperties"] === false) {
    throw new Error(`${path}: a CRD prunes unknown fields and cannot refuse them; use z.object()`);
  }
  return withoutTypeBounds(withNested(schema, path));
}

/** zod calls a choice of numbers a number even where all are whole; the originals have integers there. */
function withIntegerType(source: object): object {
  const values: unknown = "enum" in source ? source.enum : undefined;
  return Array.isArray(values) && values.every(Number.isInteger) ? { ...source, type: "integer" } : source;
}

function withNested(schema: StructuralSchema, path: string): StructuralSchema {
  const nested = { ...schema };
  if (schema.pattern !== undefined) nested.pattern = schema.pattern.replaceAll("\\/", "/");
  if (schema.properties) {
    nested.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [name, structural(field, `${path}.${name}`)]),
    );
  }
  if (schema.additionalProperties) nested.additionalProperties = structural(schema.additionalProperties, `${path}.*`);
  if (schema.items) nested.items = structural(schema.items, `${path}[]`);
  return nested;
}

/**
 * zod writes an integer's own range as bounds. The format says as much, and old servers would read a bound more
 * strictly.
 */
function withoutTypeBounds({ minimum, maximum, ...schema }: StructuralSchema): StructuralSchema {
  const least = schema.format === "int32" ? -(2 ** 31) : Number.MIN_SAFE_INTEGER;
  const greatest = schema.format === "int32" ? 2 ** 31 - 1 : Number.MAX_SAFE_INTEGER;
  return {
    ...schema,
    ...(minimum === undefined || (schema.type === "integer" && minimum === least) ? {} : { minimum }),
    ...(maximum === undefined || (schema.type === "integer" && maximum === greatest) ? {} : { maximum }),
  };
}
