import { placeOfFault } from "./json-fault.ts";

/** A number as it was written, such as `1.0` or one that has no double. `JSON.stringify` writes it back unchanged. */
export interface RawNumber {
  readonly rawJSON: string;
}

export interface JsonFields {
  readonly [name: string]: Json | undefined;
}

/** JSON that keeps unknown fields and the text of numbers. It is never changed in place. */
export type Json = null | boolean | string | number | RawNumber | readonly Json[] | JsonFields;

export type Path = readonly string[];

/** What Node has and the workspace's TypeScript library does not describe yet. */
interface LosslessJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): Json;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
}
const lossless = JSON as unknown as LosslessJson;

/**
 * Finds every number that JavaScript would write in another way: a fraction, an exponent, -0 or more than 15 digits.
 * It may find one in a string too.
 */
const ODD_NUMBER = /(?:^|[:,[\s])-?(?:\d+[.eE]|\d{16}|(?<=-)0)/;

/** Levels that everything that walks through JSON can surely follow. */
const SHALLOW = 1_000;

/** Throws a SyntaxError whose message has line and column. */
export function parseJson(text: string): Json {
  try {
    // Most documents have whole numbers alone. Keeping the text of numbers takes several times as long.
    if (!ODD_NUMBER.test(text)) {
      const json = JSON.parse(text) as Json;
      if (isNestedAtMost(SHALLOW, json)) return json;
    }
    return lossless.parse(text, (_key, value, { source }) =>
      typeof value === "number" && source !== undefined ? lossless.rawJSON(source) : value,
    );
  } catch (error) {
    // The parser calls itself for each level.
    if (error instanceof RangeError) throw new SyntaxError("the JSON document is nested too deep", { cause: error });
    throw new SyntaxError(`not valid JSON at ${placeOfFault(text)}`, { cause: error });
  }
}

function isNestedAtMost(levels: number, json: Json | undefined): boolean {
  if (typeof json !== "object" || json === null) return true;
  return levels > 0 && Object.values(json as JsonFields).every((value) => isNestedAtMost(levels - 1, value));
}

/** `text` must be a JSON number. */
export function rawNumber(text: string): RawNumber {
  return lossless.rawJSON(text);
}

export function writeJson(json: Json): string {
  return JSON.stringify(json);
}

export function isFields(json: Json | undefined): json is JsonFields {
  return typeof json === "object" && json !== null && !isList(json) && !lossless.isRawJSON(json);
}

export function isList(json: Json | undefined): json is readonly Json[] {
  return Array.isArray(json);
}

export function at(json: Json | undefined, path: Path): Json | undefined {
  let value = json;
  for (const name of path) {
    if (isList(value)) value = value[Number(name)];
    else if (isFields(value)) value = Object.hasOwn(value, name) ? value[name] : undefined;
    else return undefined;
  }
  return value;
}

export function fieldsAt(json: Json | undefined, path: Path): JsonFields {
  const value = at(json, path);
  return isFields(value) ? value : {};
}

export function listAt(json: Json | undefined, path: Path): readonly Json[] {
  const value = at(json, path);
  return isList(value) ? value : [];
}

export function textAt(json: Json | undefined, path: Path): string | undefined {
  const value = at(json, path);
  return typeof value === "string" ? value : undefined;
}

/** Undefined for what is no number. */
export function numberAt(json: Json | undefined, path: Path): number | undefined {
  const value = at(json, path);
  if (typeof value === "number") return value;
  return lossless.isRawJSON(value) ? Number(value.rawJSON) : undefined;
}

/** A copy with `value` at the path. What is missing on the way becomes objects. */
export function withValue(json: Json | undefined, [name, ...rest]: Path, value: Json): Json {
  if (name === undefined) return value;
  if (isList(json)) {
    return json.map((item, index) => (index === Number(name) ? withValue(item, rest, value) : item));
  }
  const fields = isFields(json) ? json : {};
  return {
    ...fields,
    [name]: withValue(Object.hasOwn(fields, name) ? fields[name] : undefined, rest, value),
  };
}

/** A copy without what is at the path. */
export function without(json: Json, [name, ...rest]: Path): Json {
  if (name === undefined || !isFields(json) || !Object.hasOwn(json, name)) return json;
  const { [name]: value, ...others } = json;
  if (rest.length === 0 || value === undefined) return others;
  return { ...json, [name]: without(value, rest) };
}

/** Whether both say the same. Numbers are compared by value, `1.0` is `1`. */
export function sameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (isList(one) && isList(other)) {
    return one.length === other.length && one.every((item, index) => sameJson(item, other[index]));
  }
  if (isFields(one) && isFields(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].every((name) => sameJson(at(one, [name]), at(other, [name])));
  }
  const [left, right] = [numberAt(one, []), numberAt(other, [])];
  return left === undefined && right === undefined ? one === other : left === right;
}
