type Json = Readonly<Record<string, unknown>>;

/**
 * A CRD as an original's generator would have made it: the same fields with the same types, without what this project adds on top
 * (rules in CEL, standard conditions in the status, printer columns' descriptions).
 */
export function originalShape(crd: object): object {
  return withoutAdditions(crd, []) as object;
}

function withoutAdditions(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutAdditions(item, path));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value as Json)
    .filter(([key]) => key !== "x-kubernetes-validations" && key !== "minProperties" && key !== "maxProperties")
    .filter(([key]) => !(key === "conditions" && path.slice(-3).join(".") === "properties.status.properties"))
    .map(([key, inner]) => [key, withoutAdditions(inner, [...path, key])]);
  return Object.fromEntries(entries);
}
