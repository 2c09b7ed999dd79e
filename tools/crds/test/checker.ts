/** A small reading of structural schemas, independent of zod, to hold the generated ones against it. */
import type { StructuralSchema } from "../src/index.ts";

/**
 * Paths of what `schema` refuses in `value`. CEL is left to the API server, and formats are only looked at from afar.
 */
export function refusals(schema: StructuralSchema, value: unknown, path = ""): readonly string[] {
  // Where any value is meant, what is said of text and of fields still applies to those.
  const isFree = schema["x-kubernetes-preserve-unknown-fields"] && schema.type === undefined;
  if (isFree && (value === null || Array.isArray(value))) return [];
  if (!isFree && !hasType(schema, value)) return [`${path} type`];
  if (schema.enum && !schema.enum.includes(value as string)) return [`${path} enum`];
  if (typeof value === "number") return value < least(schema) || value > greatest(schema) ? [`${path} bounds`] : [];
  if (typeof value === "string") return fits(schema, value) ? [] : [`${path} text`];
  if (Array.isArray(value)) return inList(schema, value, path);
  if (typeof value === "object") return inObject(schema, value as Record<string, unknown>, path);
  return [];
}

function hasType({ type, ...schema }: StructuralSchema, value: unknown): boolean {
  if (value === null) return false;
  if (schema["x-kubernetes-int-or-string"]) return Number.isInteger(value) || typeof value === "string";
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  return typeof value === type && !Array.isArray(value);
}

const least = ({ format, minimum }: StructuralSchema) => minimum ?? (format === "int32" ? -(2 ** 31) : -Infinity);
const greatest = ({ format, maximum }: StructuralSchema) => maximum ?? (format === "int32" ? 2 ** 31 - 1 : Infinity);

const FORMATS: Readonly<Record<string, RegExp>> = {
  "date-time": /^\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  duration: /^[-+]?\d/,
};

function fits({ format, minLength = 0, maxLength = Infinity, pattern }: StructuralSchema, text: string): boolean {
  const form = FORMATS[format ?? ""];
  const { length } = Array.from(text);
  if (length < minLength || length > maxLength) return false;
  return new RegExp(pattern ?? "").test(text) && (form?.test(text) ?? true);
}

function inList(schema: StructuralSchema, list: readonly unknown[], path: string): readonly string[] {
  const { items = {}, minItems = 0, maxItems = Infinity } = schema;
  const keys = schema["x-kubernetes-list-map-keys"];
  const identities = list.map((item) => JSON.stringify(keys?.map((key) => (item as Record<string, unknown>)[key])));
  return [
    ...(list.length < minItems || list.length > maxItems ? [`${path} items`] : []),
    ...(keys && new Set(identities).size < list.length ? [`${path} keys`] : []),
    ...list.flatMap((item, index) => refusals(items, item, `${path}[${index}]`)),
  ];
}

function inObject(schema: StructuralSchema, object: Record<string, unknown>, path: string): readonly string[] {
  const { properties = {}, additionalProperties, required = [], minProperties = 0, maxProperties = Infinity } = schema;
  const schemas = new Map(Object.entries(properties));
  // Fields the schema does not know are pruned before anything is checked.
  const known = Object.entries(object).filter(([name]) => additionalProperties ?? schemas.has(name));
  return [
    ...required.filter((name) => !Object.hasOwn(object, name)).map((name) => `${path}.${name} required`),
    ...(known.length < minProperties || known.length > maxProperties ? [`${path} properties`] : []),
    ...known.flatMap(([name, value]) =>
      refusals(schemas.get(name) ?? additionalProperties ?? {}, value, `${path}.${name}`),
    ),
  ];
}
