import type { Schema } from "../schema/schema.ts";

/** Built-in types are described as far as something depends on it: what is not named stays as it comes. */
export const open = (properties: Readonly<Record<string, Schema>> = {}, required: readonly string[] = []): Schema => ({
  ...{ type: "object", properties, required, "x-kubernetes-preserve-unknown-fields": true },
});

/** An object that is owned and replaced as a whole. */
export const whole: Schema = { ...open(), "x-kubernetes-map-type": "atomic" };

export const integer: Schema = { type: "integer" };
export const count: Schema = { type: "integer", minimum: 0 };
export const text: Schema = { type: "string" };
export const flag: Schema = { type: "boolean" };
export const texts: Schema = { type: "array", items: text };
export const textMap: Schema = { type: "object", additionalProperties: text };
export const anything: Schema = { "x-kubernetes-preserve-unknown-fields": true };
export const intOrText: Schema = { "x-kubernetes-int-or-string": true };
export const list: Schema = { type: "array", items: open() };

/** A list with items that `keys` identify. Strategic patches merge them by `mergeKey`, if it is set. */
export const keyed = (items: Schema, keys: readonly string[], mergeKey: string | undefined = keys[0]): Schema => ({
  ...{ type: "array", items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys },
  ...(mergeKey === undefined
    ? {}
    : { "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": mergeKey }),
});

/** A list that only strategic patches merge. */
export const patched = (items: Schema, mergeKey: string): Schema => ({
  ...{ type: "array", items, "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": mergeKey },
});

export const conditions: Schema = keyed(open({ type: text, status: text }), ["type"]);

/** What a type's own default is. */
export const withDefault = (schema: Schema, value: unknown): Schema => ({ ...schema, default: value });
