import { equal, isFields, isList, omit } from "../json.ts";
import { ApiFault, badRequest } from "../status.ts";

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** A JSON patch (RFC 6902). What is no patch is BadRequest; one that does not fit the value is Invalid. */
export function jsonPatch(value: unknown, patch: unknown): unknown {
  if (!isList(patch) || !patch.every(isOperation))
    throw badRequest("error decoding patch: it is not a list of operations");
  return patch.reduce<unknown>(apply, value);
}

function isOperation(value: unknown): value is Operation {
  return isFields(value) && typeof value["op"] === "string" && typeof value["path"] === "string";
}

function apply(value: unknown, operation: Operation): unknown {
  const path = parse(operation.path);
  const from = parse(operation.from ?? "");
  switch (operation.op) {
    case "add":
      return put(value, path, operation.value, "add");
    case "replace":
      read(value, path);
      return put(value, path, operation.value, "replace");
    case "remove":
      return remove(value, path);
    case "copy":
      return put(value, path, read(value, from), "add");
    case "move":
      return put(remove(value, from), path, read(value, from), "add");
    case "test":
      if (equal(find(value, path) ?? null, operation.value ?? null)) return value;
      throw misfit(`testing value ${operation.path} failed`);
    default:
      throw badRequest(`error decoding patch: unexpected kind: ${operation.op}`);
  }
}

const misfit = (why: string): ApiFault =>
  new ApiFault(422, "Invalid", `the server rejected our request due to an error in our request: ${why}`);

function parse(pointer: string): string[] {
  if (pointer === "") return [];
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function find(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => {
    if (isList(at)) return at[Number(key)];
    return isFields(at) ? at[key] : undefined;
  }, value);
}

function read(value: unknown, path: readonly string[]): unknown {
  const found = find(value, path);
  if (found === undefined) throw misfit(`there is nothing at /${path.join("/")}`);
  return found;
}

function put(value: unknown, [key, ...rest]: readonly string[], set: unknown, how: "add" | "replace"): unknown {
  if (key === undefined) return set;
  if (isList(value)) {
    const index = key === "-" ? value.length : Number(key);
    if (!Number.isInteger(index) || index < 0 || index > value.length) throw misfit(`${key} is no index of the list`);
    if (rest.length > 0) return value.with(index, put(value[index], rest, set, how));
    return how === "add" ? value.toSpliced(index, 0, set) : value.with(index, set);
  }
  if (!isFields(value)) throw misfit(`there is no object that has ${key}`);
  return { ...value, [key]: put(value[key], rest, set, how) };
}

function remove(value: unknown, path: readonly string[]): unknown {
  read(value, path);
  const [key, ...rest] = path;
  if (key === undefined) return undefined;
  if (isList(value)) {
    const index = Number(key);
    return rest.length === 0 ? value.toSpliced(index, 1) : value.with(index, remove(value[index], rest));
  }
  if (!isFields(value)) return value;
  if (rest.length > 0) return { ...value, [key]: remove(value[key], rest) };
  return omit(value, key);
}
