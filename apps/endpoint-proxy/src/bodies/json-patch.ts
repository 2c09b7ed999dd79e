import { at, isFields, isList, type Json, type Path, sameJson, without, withValue } from "./json-text.ts";

/** One operation of a JSON patch, RFC 6902. */
export interface Operation {
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  readonly path: Path;
  readonly from: Path;
  readonly value: Json;
  /** As it was sent. */
  readonly sent: Json;
}

const OPS: readonly string[] = ["add", "remove", "replace", "move", "copy", "test"];

/** An operation that does not fit the object. kube-apiserver answers 422. */
export class PatchMismatch extends Error {}

/** Throws a SyntaxError if it is not a list of operations. */
export function operationsOf(patch: Json): readonly Operation[] {
  if (!isList(patch)) throw new SyntaxError("a JSON patch must be a list of operations");
  return patch.map((sent, index) => {
    const op = at(sent, ["op"]);
    const [path, from] = [at(sent, ["path"]), at(sent, ["from"]) ?? ""];
    if (typeof op !== "string" || !OPS.includes(op) || typeof path !== "string" || typeof from !== "string") {
      throw new SyntaxError(`operation ${index} of the JSON patch has no known op, or no path`);
    }
    // kube-apiserver ignores what stands before the first slash, so `x/spec/replicas` would be another path there.
    if (![path, from].every((text) => text === "" || text.startsWith("/"))) {
      throw new SyntaxError(`a path of operation ${index} of the JSON patch does not begin with a slash`);
    }
    const value = at(sent, ["value"]) ?? null;
    return {
      op: op as Operation["op"],
      path: pointer(path),
      from: pointer(from),
      value,
      sent,
    };
  });
}

function pointer(text: string): Path {
  if (text === "") return [];
  return text
    .slice(1)
    .split("/")
    .map((word) => word.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function pointerText(path: Path): string {
  return path.map((word) => `/${word.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The object after one operation. Throws PatchMismatch if a test fails or a path does not exist. */
export function applied(json: Json, { op, path, from, value }: Operation): Json {
  switch (op) {
    case "test":
      if (!sameJson(at(json, path), value)) throw new PatchMismatch(`test failed at ${pointerText(path)}`);
      return json;
    case "add":
      return inserted(json, path, value);
    case "replace":
      return withValue(json, existing(json, path), value);
    case "remove":
      return removed(json, path);
    case "copy":
      return inserted(json, path, at(json, existing(json, from)) ?? null);
    case "move":
      return inserted(removed(json, from), path, at(json, from) ?? null);
  }
}

function inserted(json: Json, path: Path, value: Json): Json {
  const [holder, last] = [path.slice(0, -1), path.at(-1)];
  if (last === undefined) return value;
  const container = at(json, existing(json, holder));
  if (!isList(container)) return withValue(json, path, value);
  const index = last === "-" ? container.length : Number(last);
  return withValue(json, holder, container.toSpliced(index, 0, value));
}

function removed(json: Json, path: Path): Json {
  const [holder, last = ""] = [existing(json, path).slice(0, -1), path.at(-1)];
  const container = at(json, holder);
  if (isList(container)) return withValue(json, holder, container.toSpliced(Number(last), 1));
  if (!isFields(container)) throw new PatchMismatch(`nothing at ${pointerText(path)}`);
  return withValue(json, holder, without(container, [last]));
}

function existing(json: Json, path: Path): Path {
  if (at(json, path) === undefined) throw new PatchMismatch(`nothing at ${pointerText(path)}`);
  return path;
}
