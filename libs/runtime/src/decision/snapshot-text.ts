import { SnapshotNotJson } from "../errors.ts";
import { scrub } from "../scrub.ts";

/**
 * The JSON text of a snapshot, without the data of Secrets and without credentials. It refuses what JSON would silently
 * change (NaN, Map, Date, bigint, …): such a snapshot would replay to another decision.
 */
export function snapshotText(snapshot: unknown): string {
  const path: unknown[] = [];
  const names: string[] = [];
  const text = JSON.stringify(snapshot, function (this: unknown, name: string, value: unknown) {
    while (path.length > 0 && path.at(-1) !== this) {
      path.pop();
      names.pop();
    }
    // `value` has been through toJSON by now; the holder still has the original.
    const original = (this as Record<string, unknown>)[name];
    const changed = original === value ? undefined : "a toJSON method";
    const what = foreign(original, Array.isArray(this)) ?? changed ?? (path.includes(value) ? "a circle" : undefined);
    if (what !== undefined)
      throw new SnapshotNotJson({ what, path: [...names, name].join(".").replace(/^\./, "") || "its root" });
    if (typeof value !== "object" || value === null) return value;
    const kept = withoutSecretData(value);
    path.push(kept);
    names.push(name);
    return kept;
  });
  return scrub(text);
}

/** What a value is when JSON cannot carry it. */
function foreign(value: unknown, inArray: boolean): string | undefined {
  switch (typeof value) {
    case "number":
      return Number.isFinite(value) ? undefined : String(value);
    case "undefined":
      return inArray ? "undefined" : undefined;
    case "bigint":
    case "function":
    case "symbol":
      return `a ${typeof value}`;
    case "object": {
      if (value === null || Array.isArray(value)) return undefined;
      const prototype: unknown = Object.getPrototypeOf(value);
      // Not compared with Object.prototype: plain data may come from another realm, which has its own.
      if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined;
      return `a ${(value.constructor as { name: string }).name}`;
    }
    default:
      return undefined;
  }
}

/** The items of a list from the API do not carry their kind, so the list's decides. */
function withoutSecretData(value: { kind?: unknown; metadata?: unknown; items?: unknown }): object {
  const { kind, metadata, items } = value;
  if (kind === "Secret" && ("data" in value || "stringData" in value)) return { kind, metadata };
  if (kind !== "SecretList" || !Array.isArray(items)) return value;
  return { ...value, items: items.map((item: { metadata?: unknown } | null) => ({ metadata: item?.metadata })) };
}
