import { equal, type Fields, fieldsOr, isFields, isList, listOr } from "../json.ts";
import { propertySchema, type Schema } from "../schema/schema.ts";
import { badRequest } from "../status.ts";

const DIRECTIVE = /^\$(patch|retainKeys|setElementOrder\/.*|deleteFromPrimitiveList\/.*)$/;

/**
 * A strategic merge patch: a merge patch whose lists merge by key where the type's schema names one, or by value where
 * it says `merge`. Items that are new come as early as the order of the old ones allows.
 */
export function strategicPatch(value: unknown, patch: unknown, schema: Schema | undefined): unknown {
  if (!isFields(patch)) return patch;
  if (patch["$patch"] === "replace") return plain(patch);
  if (patch["$patch"] === "delete") return undefined;
  const result: Record<string, unknown> = { ...retained(fieldsOr(value), patch["$retainKeys"]) };
  for (const [key, change] of Object.entries(patch)) {
    if (DIRECTIVE.test(key)) continue;
    const merged = mergeField(result[key], change, propertySchema(schema, key), patch[`$setElementOrder/${key}`]);
    if (merged === null || merged === undefined) Reflect.deleteProperty(result, key);
    else result[key] = merged;
  }
  for (const [key, gone] of Object.entries(patch)) {
    const [, list] = /^\$deleteFromPrimitiveList\/(.*)$/.exec(key) ?? [];
    if (list !== undefined) result[list] = listOr(result[list]).filter((item) => !listOr(gone).includes(item));
  }
  return result;
}

function retained(fields: Fields, keys: unknown): Fields {
  if (!isList(keys)) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([key]) => keys.includes(key)));
}

/** The patch's own fields, without its directives. */
function plain(patch: Fields): Fields {
  return Object.fromEntries(Object.entries(patch).filter(([key]) => !DIRECTIVE.test(key)));
}

function mergeField(value: unknown, change: unknown, schema: Schema | undefined, order: unknown): unknown {
  if (change === null) return null;
  if (!isList(change)) return strategicPatch(value, change, schema);
  const merges = schema?.["x-kubernetes-patch-strategy"] === "merge";
  const key = schema?.["x-kubernetes-patch-merge-key"];
  if (!merges) return change.map((item) => (isFields(item) ? plain(item) : item));
  if (key === undefined) {
    const old = listOr(value);
    return [...old, ...change.filter((item) => !old.some((one) => equal(one, item)))];
  }
  return mergeItems(listOr(value), change, { key, schema: schema.items, order: isList(order) ? order : undefined });
}

interface Items {
  readonly key: string;
  readonly schema: Schema | undefined;
  /** What `$setElementOrder` says: items that name their key alone. */
  readonly order: readonly unknown[] | undefined;
}

function mergeItems(old: readonly unknown[], changes: readonly unknown[], { key, schema, order }: Items): unknown[] {
  const nameOf = (item: unknown): unknown => fieldsOr(item)[key];
  if (changes.some((item) => isFields(item) && item["$patch"] === "replace" && nameOf(item) === undefined)) {
    return changes.filter((item) => nameOf(item) !== undefined);
  }
  const merged = new Map(old.map((item) => [nameOf(item), item]));
  for (const change of changes) {
    const name = nameOf(change);
    if (name === undefined)
      throw badRequest(`map: ${JSON.stringify(change)} does not contain declared merge key: ${key}`);
    const item = strategicPatch(merged.get(name), change, schema);
    if (item === undefined) merged.delete(name);
    else merged.set(name, item);
  }
  const wanted = (order ?? changes).map(nameOf);
  const before = old.map(nameOf);
  const named = wanted.filter((name) => merged.has(name));
  const others = before.filter((name) => merged.has(name) && !wanted.includes(name));
  return weave(named, others, before).map((name) => merged.get(name));
}

/** Both lists in their own order; of two that the old list knows, the one that it had first comes first. */
function weave(named: readonly unknown[], others: readonly unknown[], before: readonly unknown[]): unknown[] {
  const result: unknown[] = [];
  let [left, right] = [0, 0];
  while (left < named.length || right < others.length) {
    const place = before.indexOf(named[left]);
    const first =
      right >= others.length || (left < named.length && (place < 0 || place < before.indexOf(others[right])));
    result.push(first ? named[left++] : others[right++]);
  }
  return result;
}
