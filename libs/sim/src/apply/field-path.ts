import { equal, type Fields, fieldsOr, isFields, isList } from "../json.ts";
import { itemKey, listKeys, propertySchema, type Schema } from "../schema/schema.ts";

/**
 * A field's path in the words of managedFields, its elements joined: `f:spec`, `k:{"name":"a"}` for an item of a list
 * by its keys, `v:"x"` for a member of a set.
 */
export type FieldPath = string;

const JOINT = "\u0000";

const join = (path: FieldPath, element: string): FieldPath => (path === "" ? element : `${path}${JOINT}${element}`);

const elementsOf = (path: FieldPath): readonly string[] => path.split(JOINT);

type Part = readonly [element: string, value: unknown, schema: Schema | undefined];

/** How a value falls apart into fields that can have owners of their own; undefined for what is owned as a whole. */
function parts(value: unknown, schema: Schema | undefined): readonly Part[] | undefined {
  if (isFields(value)) {
    if (schema?.["x-kubernetes-map-type"] === "atomic" || Object.keys(value).length === 0) return undefined;
    return Object.entries(value).map(([key, entry]) => [`f:${key}`, entry, propertySchema(schema, key)] as const);
  }
  if (!isList(value) || value.length === 0) return undefined;
  const keys = listKeys(schema);
  if (keys !== undefined) {
    return value.map((item) => [`k:${JSON.stringify(itemKey(item, keys, schema))}`, item, schema?.items] as const);
  }
  if (schema?.["x-kubernetes-list-type"] !== "set") return undefined;
  return value.map((item) => [`v:${JSON.stringify(item)}`, item, undefined] as const);
}

/** Every field of a value with what it holds. An item of a list is a field itself, besides its own fields. */
export function fieldsIn(value: unknown, schema: Schema | undefined): Map<FieldPath, unknown> {
  const fields = new Map<FieldPath, unknown>();
  const visit = (at: unknown, known: Schema | undefined, path: FieldPath): void => {
    const below = parts(at, known);
    if (below === undefined) fields.set(path, at);
    for (const [element, entry, next] of below ?? []) {
      if (element.startsWith("k:")) fields.set(join(path, element), true);
      visit(entry, next, join(path, element));
    }
  };
  if (isFields(value) && Object.keys(value).length > 0) visit(value, schema, "");
  return fields;
}

/** What `config` states, laid over `live`: objects and keyed lists merge, sets are joined, all else is replaced. */
export function mergeFields(live: unknown, config: unknown, schema: Schema | undefined): unknown {
  if (isFields(config) && isFields(live) && schema?.["x-kubernetes-map-type"] !== "atomic") {
    const merged = Object.entries(config).map(([key, entry]): [string, unknown] => {
      return [key, key in live ? mergeFields(live[key], entry, propertySchema(schema, key)) : entry];
    });
    return { ...live, ...Object.fromEntries(merged) };
  }
  if (!isList(config) || !isList(live)) return config;
  if (schema?.["x-kubernetes-list-type"] === "set") {
    return [...live, ...config.filter((item) => !live.some((one) => equal(one, item)))];
  }
  const keys = listKeys(schema);
  if (keys === undefined) return config;
  const same = (one: unknown, other: unknown): boolean =>
    equal(itemKey(one, keys, schema), itemKey(other, keys, schema));
  const changed = live.map((item) => {
    const stated = config.find((one) => same(one, item));
    return stated === undefined ? item : mergeFields(item, stated, schema?.items);
  });
  return [...changed, ...config.filter((item) => !live.some((one) => same(one, item)))];
}

/** The value without some fields; an object or list that loses its last goes too. */
export function withoutFields(value: unknown, gone: ReadonlySet<FieldPath>, schema: Schema | undefined): unknown {
  const visit = (at: unknown, known: Schema | undefined, path: FieldPath): unknown => {
    if (gone.has(path)) return undefined;
    const below = parts(at, known);
    if (below === undefined) return at;
    const kept = below.flatMap(([element, entry, next]) => {
      const left = visit(entry, next, join(path, element));
      return left === undefined ? [] : [{ key: element.slice(2), left }];
    });
    if (kept.length === 0) return undefined;
    return isList(at) ? kept.map(({ left }) => left) : Object.fromEntries(kept.map(({ key, left }) => [key, left]));
  };
  return visit(value, schema, "") ?? {};
}

/** A set of fields as managedFields carries it. */
export function toFieldsV1(paths: Iterable<FieldPath>): Fields {
  const root: Record<string, unknown> = {};
  const all = [...paths].toSorted();
  for (const [index, path] of all.entries()) {
    let at = root;
    for (const element of elementsOf(path)) at = (at[element] ??= {}) as Record<string, unknown>;
    // The joint sorts before every other character: what is below a path comes right after it.
    if (all[index + 1]?.startsWith(path + JOINT) === true) at["."] = {};
  }
  return root;
}

export function fromFieldsV1(fields: Fields): Set<FieldPath> {
  const paths = new Set<FieldPath>();
  const visit = (node: Fields, path: FieldPath): void => {
    const below = Object.entries(node);
    if (below.length === 0 && path !== "") paths.add(path);
    for (const [element, next] of below) {
      if (element === ".") paths.add(path);
      else visit(fieldsOr(next), join(path, element));
    }
  };
  visit(fields, "");
  return paths;
}

/** The path as messages show it: `.spec.containers[name="a"].image`. */
export function showPath(path: FieldPath): string {
  return elementsOf(path)
    .map((element) => {
      const rest = element.slice(2);
      if (element.startsWith("f:")) return `.${rest}`;
      if (element.startsWith("v:")) return `[=${rest}]`;
      const keys = Object.entries(fieldsOr(JSON.parse(rest)));
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
    })
    .join("");
}
