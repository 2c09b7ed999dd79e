import { applied, type Operation, operationsOf, PatchMismatch, pointerText } from "./json-patch.ts";
import {
  at,
  fieldsAt,
  isFields,
  type Json,
  numberAt,
  parseJson,
  type Path,
  textAt,
  without,
  withValue,
  writeJson,
} from "./json-text.ts";
import { type EncodedBody, mediaType, UnknownContentType } from "./object-body.ts";
import { parseYaml } from "./yaml-text.ts";

export const REPLICAS: Path = ["spec", "replicas"];
export const VERSION: Path = ["metadata", "resourceVersion"];
const UID: Path = ["metadata", "uid"];
const LABELS: Path = ["metadata", "labels"];
const TEMPLATE_LABELS: Path = ["spec", "template", "metadata", "labels"];
const ANNOTATIONS: Path = ["metadata", "annotations"];
const OWNERS: Path = ["metadata", "ownerReferences"];

/** What one member's copy of a patch must say. */
export interface PatchTarget {
  /** The member's own object. Undefined if it has none and an apply patch creates it. */
  readonly current: Json | undefined;
  readonly isOwn: boolean;
  /** Replicas of this member; undefined leaves them alone. */
  readonly replicas: number | undefined;
  readonly annotations: Readonly<Record<string, string>>;
  /** Set where the patch has this label, and always by apply. */
  readonly label: { readonly key: string; readonly value: string } | undefined;
  /** The version that the write insists on. */
  readonly version: string | undefined;
}

/** A patch, which is made into one for each member. All else in it stays as it was sent. */
export interface PatchBody {
  readonly isApply: boolean;
  /** The tree that is laid over the object; empty for a JSON patch. */
  readonly view: Json;
  /** The resourceVersion that it insists on. */
  readonly version: string | undefined;
  /** Replicas that `merged` has after it; undefined if it leaves them alone. Throws PatchMismatch. */
  replicasAfter(merged: Json | undefined): number | undefined;
  /** `merged` after it, as far as the split needs to know. Throws PatchMismatch. */
  after(merged: Json | undefined): Json;
  /** Whether it changes the number of replicas and nothing else. */
  readonly isReplicasOnly: boolean;
  for(target: PatchTarget): EncodedBody;
}

/** Throws a SyntaxError that names the place if it cannot be parsed, or UnknownContentType. */
export function parsePatch(contentType: string | undefined, body: Buffer): PatchBody {
  const type = mediaType(contentType);
  switch (type) {
    case "application/json-patch+json":
      return new JsonPatchBody(operationsOf(parseJson(body.toString())));
    case "application/merge-patch+json":
    case "application/strategic-merge-patch+json":
      return new TreePatchBody(type, parseJson(body.toString()));
    case "application/apply-patch+yaml":
      return new TreePatchBody(type, parseYaml(body.toString()));
    default:
      throw new UnknownContentType(contentType ?? "");
  }
}

/** Merge, strategic merge and apply patches: a tree that is laid over the object. */
class TreePatchBody implements PatchBody {
  readonly #type: string;
  readonly view: Json;
  readonly isApply: boolean;
  readonly version: string | undefined;
  readonly isReplicasOnly: boolean;

  constructor(type: string, patch: Json) {
    if (!isFields(patch)) throw new SyntaxError("a patch of this type must be an object");
    this.#type = type;
    this.view = patch;
    this.isApply = type.startsWith("application/apply");
    this.version = textAt(patch, VERSION);
    const rest = [REPLICAS, VERSION, ["apiVersion"], ["kind"], ["metadata", "name"]].reduce(without, patch);
    this.isReplicasOnly = !this.isApply && isEmpty(rest);
  }

  after(merged: Json | undefined): Json {
    return overlaid(merged, this.view);
  }

  replicasAfter(): number | undefined {
    const replicas = at(this.view, REPLICAS);
    const isReplaced = [["$patch"], ["spec", "$patch"]].some((path) => at(this.view, path) === "replace");
    const replacesSpec = isReplaced || at(this.view, ["spec"]) === null;
    if (replicas === undefined) return replacesSpec ? 1 : undefined;
    // Null removes the field, and the server then defaults it.
    return replicas === null ? 1 : (numberAt(replicas, []) ?? Number.NaN);
  }

  for({ current, isOwn, replicas, annotations, label, version }: PatchTarget): EncodedBody {
    let patch = this.view;
    const set = (path: Path, value: string | number): void => void (patch = withValue(patch, path, value));
    if (replicas !== undefined) set(REPLICAS, replicas);
    if (at(patch, ANNOTATIONS) === null && Object.keys(annotations).length > 0) {
      // All are removed, and some are set: each that the member has is removed by its name.
      const removed = Object.keys(fieldsAt(current, ANNOTATIONS)).map((name) => [name, null]);
      patch = withValue(patch, ANNOTATIONS, Object.fromEntries(removed) as Json);
    }
    for (const [name, value] of Object.entries(annotations)) set([...ANNOTATIONS, name], value);
    for (const labels of [LABELS, TEMPLATE_LABELS]) {
      const has = (path: Path): boolean => isFields(at(patch, path));
      const applies = this.isApply && (labels === LABELS || has(["spec", "template"]));
      if (label !== undefined && (applies || typeof at(patch, [...labels, label.key]) === "string")) {
        set([...labels, label.key], label.value);
      }
    }
    if (!isOwn) patch = without(patch, ["metadata", "ownerReferences"]);
    const uid = textAt(current, UID);
    if (at(patch, UID) !== undefined) patch = uid === undefined ? without(patch, UID) : withValue(patch, UID, uid);
    patch = version === undefined ? without(patch, VERSION) : withValue(patch, VERSION, version);
    return { contentType: this.#type, body: Buffer.from(writeJson(patch)) };
  }
}

/** A list of operations. What differs by member is appended to it, so that it has the last word. */
class JsonPatchBody implements PatchBody {
  readonly #operations: readonly Operation[];
  readonly isApply = false;
  readonly view = {};
  readonly version: string | undefined;
  readonly isReplicasOnly: boolean;

  constructor(operations: readonly Operation[]) {
    this.#operations = operations;
    const versions = operations.filter((one) => one.op !== "test" && pointerText(one.path) === pointerText(VERSION));
    this.version = textAt(versions.at(-1)?.value, []);
    this.isReplicasOnly = operations.every(
      ({ op, path }) => op === "test" || [REPLICAS, VERSION].map(pointerText).includes(pointerText(path)),
    );
  }

  after(merged: Json = {}): Json {
    return this.#operations.reduce(applied, merged);
  }

  replicasAfter(merged?: Json): number | undefined {
    const after = this.after(merged);
    if (!this.#operations.some((one) => one.op !== "test" && isAtOrAbove(one, REPLICAS))) return undefined;
    const replicas = at(after, REPLICAS);
    return replicas === undefined || replicas === null ? 1 : (numberAt(replicas, []) ?? Number.NaN);
  }

  for({ current = {}, isOwn, replicas, annotations, label, version }: PatchTarget): EncodedBody {
    const patch: Json[] = [];
    let after = current;
    for (const operation of this.#operations) {
      const { op, path } = operation;
      if (!isOwn && isAt(path, OWNERS)) continue;
      if (pointerText(path) === pointerText(VERSION) && op !== "test") continue;
      // The merged object passed the test. The member must still be what it was when it was read.
      const own = at(after, path);
      const isReplicas = pointerText(path) === pointerText(REPLICAS);
      // A Scale of 0 has no such field on the server: it is added, and its version is tested in its place.
      const sent = isOwn ? operation.sent : withoutOwners(operation);
      if (op !== "test") patch.push(isReplicas && op === "replace" ? withValue(sent, ["op"], "add") : sent);
      else if (own !== undefined && !(isReplicas && numberAt(own, []) === 0)) {
        patch.push(withValue(operation.sent, ["value"], own));
      }
      after = mismatchIgnored(after, operation);
    }
    const add = (path: Path, value: string | number): void => {
      patch.push({ op: "add", path: pointerText(path), value });
    };
    if (replicas !== undefined) add(REPLICAS, replicas);
    const notes = Object.entries(annotations);
    if (isFields(at(after, ANNOTATIONS))) for (const [name, value] of notes) add([...ANNOTATIONS, name], value);
    else if (notes.length > 0)
      patch.push({
        op: "add",
        path: pointerText(ANNOTATIONS),
        value: annotations,
      });
    for (const labels of [LABELS, TEMPLATE_LABELS]) {
      if (label === undefined || !isFields(at(after, labels))) continue;
      const isTouched = this.#operations.some((one) => isAtOrAbove(one, [...labels, label.key]));
      if (isTouched) add([...labels, label.key], label.value);
    }
    if (version !== undefined) add(VERSION, version);
    return {
      contentType: "application/json-patch+json",
      body: Buffer.from(writeJson(patch)),
    };
  }
}

/** What is sent to a peer: the value of what is above the owner references has none. */
function withoutOwners({ path, sent }: Operation): Json {
  return isAt(OWNERS, path) ? without(sent, ["value", ...OWNERS.slice(path.length)]) : sent;
}

/** Whether a path is at `holder` or below it. */
function isAt(path: Path, holder: Path): boolean {
  return holder.every((word, index) => word === path[index]);
}

/** A merge patch, RFC 7386, laid over an object; a strategic one too, but for lists. */
function overlaid(object: Json | undefined, patch: Json): Json {
  if (!isFields(patch)) return patch;
  const isReplaced = at(patch, ["$patch"]) === "replace";
  const fields = new Map(Object.entries(isFields(object) && !isReplaced ? object : {}));
  for (const [name, value = null] of Object.entries(patch)) {
    if (value === null) fields.delete(name);
    else if (name !== "$patch") fields.set(name, overlaid(fields.get(name), value));
  }
  return Object.fromEntries(fields);
}

function isEmpty(json: Json | undefined): boolean {
  return isFields(json) && Object.values(json).every(isEmpty);
}

/** Whether an operation changes the path, or something that contains it. */
function isAtOrAbove({ path, from, op }: Operation, target: Path): boolean {
  const covers = (one: Path): boolean => one.every((word, index) => word === target[index]);
  return covers(path) || (op === "move" && covers(from));
}

/** The server says what does not fit a member. */
function mismatchIgnored(json: Json, operation: Operation): Json {
  try {
    return applied(
      json,
      operation.op === "test" ? { ...operation, value: at(json, operation.path) ?? null } : operation,
    );
  } catch (error) {
    if (error instanceof PatchMismatch) return json;
    throw error;
  }
}
