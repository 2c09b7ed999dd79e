import { isDeepStrictEqual } from "node:util";
import type { JsonPatchOperation } from "../objects/resource.ts";

/** RFC 7386. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(merged, field);
    else merged[field] = applyMergePatch(merged[field], value);
  }
  return merged;
}

/** The add, remove, replace and test of RFC 6902; undefined if a test fails or a path does not exist. */
export function applyJsonPatch(target: unknown, operations: readonly JsonPatchOperation[]): unknown {
  const patched = structuredClone(target);
  for (const { op, path, value } of operations) {
    const fields = path
      .split("/")
      .slice(1)
      .map((field) => field.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = fields.pop() ?? "";
    const parent = fields.reduce<unknown>((node, field) => (isObject(node) ? node[field] : undefined), patched);
    if (!isObject(parent)) return undefined;
    if (op === "test") {
      if (!isDeepStrictEqual(parent[last], value)) return undefined;
    } else if (Array.isArray(parent)) {
      const index = last === "-" ? parent.length : Number(last);
      parent.splice(index, op === "add" ? 0 : 1, ...(op === "remove" ? [] : [value]));
    } else if (op === "remove") {
      if (!(last in parent)) return undefined;
      Reflect.deleteProperty(parent, last);
    } else {
      parent[last] = value;
    }
  }
  return patched;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !Array.isArray(value);
}
