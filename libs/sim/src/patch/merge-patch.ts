import { fieldsOr, isFields } from "../json.ts";

/** A JSON merge patch (RFC 7386): null removes, objects merge, all else replaces. */
export function mergePatch(value: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Record<string, unknown> = { ...fieldsOr(value) };
  for (const [key, change] of Object.entries(patch)) {
    const merged = mergePatch(result[key], change);
    if (merged === null) Reflect.deleteProperty(result, key);
    else result[key] = merged;
  }
  return result;
}
