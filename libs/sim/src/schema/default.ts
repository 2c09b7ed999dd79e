import { isFields, isList } from "../json.ts";
import { propertySchema, type Schema } from "./schema.ts";

/**
 * The value with the schema's defaults. Null where null may not be counts as not given: it takes the default, or goes
 * if there is none.
 */
export function withDefaults(value: unknown, schema: Schema | undefined): unknown {
  if (schema === undefined) return value;
  if (isList(value)) return value.map((item) => withDefaults(item, schema.items));
  if (!isFields(value)) return value;
  const given = Object.entries(value).filter(([key, entry]) => {
    const known = propertySchema(schema, key);
    return entry !== null || known === undefined || known.nullable === true;
  });
  const result: Record<string, unknown> = Object.fromEntries(given);
  for (const [key, known] of Object.entries(schema.properties ?? {})) {
    if (known.default !== undefined && result[key] === undefined) result[key] = structuredClone(known.default);
  }
  for (const [key, entry] of Object.entries(result)) result[key] = withDefaults(entry, propertySchema(schema, key));
  return result;
}
