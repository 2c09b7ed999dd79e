/** An object of JSON, as it came over the wire: nothing is known of its values. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

export function fieldsOr(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function listOr(value: unknown): readonly unknown[] {
  return isList(value) ? value : [];
}

export function textOr(value: unknown, otherwise = ""): string {
  return typeof value === "string" ? value : otherwise;
}

/** Whether two values are the same JSON. A key that is undefined counts as absent. */
export function equal(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (isList(one)) {
    return isList(other) && one.length === other.length && one.every((item, index) => equal(item, other[index]));
  }
  if (!isFields(one) || !isFields(other)) return false;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].every((key) => equal(one[key], other[key]));
}

/** The value at a path of keys; undefined where the path leaves the object. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (isFields(at) ? at[key] : undefined), value);
}

/** A copy with the value at a path of keys set; objects on the way are made. */
export function withValueAt(value: unknown, [key, ...rest]: readonly string[], set: unknown): unknown {
  if (key === undefined) return set;
  const fields = fieldsOr(value);
  return { ...fields, [key]: withValueAt(fields[key], rest, set) };
}

/** A copy without some keys. */
export function omit(fields: Fields, ...keys: readonly string[]): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([key, value]) => value !== undefined && !keys.includes(key)),
  );
}
