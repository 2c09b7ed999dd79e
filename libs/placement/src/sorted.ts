/** The same JSON value with the keys of all objects in order, so that equal values have equal texts. */
export function sorted<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(sorted) as Value;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, sorted(part)])) as Value;
}
