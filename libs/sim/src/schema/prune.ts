import { isFields, isList } from "../json.ts";
import { keepsUnknown, propertySchema, type Schema } from "./schema.ts";

/** A value without the fields that its schema does not know, and the paths of those. */
export interface Pruned {
  readonly value: unknown;
  readonly unknown: readonly string[];
}

export function prune(value: unknown, schema: Schema | undefined): Pruned {
  const unknown: string[] = [];
  return { value: pruneAt(value, schema, "", unknown), unknown };
}

function pruneAt(value: unknown, schema: Schema | undefined, path: string, unknown: string[]): unknown {
  if (schema === undefined) return value;
  if (isList(value)) return value.map((item, index) => pruneAt(item, schema.items, `${path}[${index}]`, unknown));
  if (!isFields(value)) return value;
  const entries = Object.entries(value).flatMap(([key, entry]): [string, unknown][] => {
    const at = path === "" ? key : `${path}.${key}`;
    const known = propertySchema(schema, key);
    if (known !== undefined) return [[key, pruneAt(entry, known, at, unknown)]];
    if (keepsUnknown(schema)) return [[key, entry]];
    unknown.push(at);
    return [];
  });
  return Object.fromEntries(entries);
}
