import { type Fields, isFields } from "../json.ts";

export interface Rule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  /** Such as `.low`, relative to where the rule stands. */
  readonly fieldPath?: string;
}

/**
 * A structural schema as definitions carry it. Built-in types are described in the same words, but only as far as
 * something depends on it: what a built-in schema leaves out is kept as it comes.
 */
export interface Schema {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-validations"?: readonly Rule[];
  /** Of built-in types alone: how a strategic merge patch treats a list. */
  readonly "x-kubernetes-patch-strategy"?: "merge";
  readonly "x-kubernetes-patch-merge-key"?: string;
}

/** What the schema says of one key of an object; undefined if it knows nothing of it. */
export function propertySchema(schema: Schema | undefined, key: string): Schema | undefined {
  const own = schema?.properties;
  if (own !== undefined && Object.hasOwn(own, key)) return own[key];
  return isFields(schema?.additionalProperties) ? schema.additionalProperties : undefined;
}

/** Whether keys that the schema does not name may stay. */
export function keepsUnknown(schema: Schema): boolean {
  return (
    schema["x-kubernetes-preserve-unknown-fields"] === true ||
    schema.additionalProperties === true ||
    isFields(schema.additionalProperties)
  );
}

/** The keys that tell the items of a list apart; undefined for a list that is not merged by keys. */
export function listKeys(schema: Schema | undefined): readonly string[] | undefined {
  return schema?.["x-kubernetes-list-type"] === "map" ? schema["x-kubernetes-list-map-keys"] : undefined;
}

/** The values of an item's keys, with the defaults of those that it leaves out. */
export function itemKey(item: unknown, keys: readonly string[], schema: Schema | undefined): Fields {
  const fields = isFields(item) ? item : {};
  const value = (key: string): unknown => fields[key] ?? schema?.items?.properties?.[key]?.default;
  return Object.fromEntries(keys.flatMap((key) => (value(key) === undefined ? [] : [[key, value(key)]])));
}
