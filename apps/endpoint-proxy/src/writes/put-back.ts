import { hash } from "node:crypto";
import {
  at,
  isFields,
  type Json,
  listAt,
  numberAt,
  type Path,
  sameJson,
  textAt,
  without,
  withValue,
  writeJson,
} from "../bodies/json-text.ts";
import { JSON_TYPE } from "../bodies/object-body.ts";
import type { Member } from "../members/member.ts";
import { type Call, isDone, type MemberCalls } from "./member-calls.ts";

/** What became of a member whose write had to be undone. */
export type Restored = "AsBefore" | "ChangedSince" | "Failed";

/** How a member was before a write, and how to get there again. */
export interface Before {
  readonly member: Member;
  /** The path of the object itself, without query. */
  readonly path: string;
  /** Undefined if the write created the object. */
  readonly object: Json | undefined;
  /** The verb of the write: who may PUT may not be allowed to PATCH. */
  readonly method: "POST" | "PUT" | "PATCH";
  readonly isScale: boolean;
}

const MARKS: readonly Path[] = [["spec"], ["metadata", "labels"], ["metadata", "annotations"]];

/** Looked at only if the write changed them: controllers write them too. */
const RARE_MARKS: readonly Path[] = [
  ["metadata", "finalizers"],
  ["metadata", "ownerReferences"],
];

/** What controllers write into an object that nobody changed. */
const BY_CONTROLLERS: readonly Path[] = [
  ["spec", "volumeName"],
  ["spec", "claimRef"],
  ...[
    "deployment.kubernetes.io/revision",
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "pv.kubernetes.io/provisioned-by",
    "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
    "volume.beta.kubernetes.io/storage-provisioner",
  ].map((name) => ["metadata", "annotations", name]),
];

/** What a server chooses for a Service. It may choose otherwise in the dry run, and once more in the write. */
const BY_SERVERS: readonly Path[] = [
  ["spec", "clusterIP"],
  ["spec", "clusterIPs"],
  ["spec", "ipFamilies"],
  ["spec", "ipFamilyPolicy"],
  ["spec", "healthCheckNodePort"],
];

const PORTS: Path = ["spec", "ports"];
const VERSION: Path = ["metadata", "resourceVersion"];
const ATTEMPTS = 4;

/**
 * Puts a member back to how it was. `expected` is what the write made of the object: what somebody else changed since
 * is left alone. Where that is not known, the object may be somebody else's, and nothing is written.
 */
export async function putBack(calls: MemberCalls, before: Before, expected: Json | undefined): Promise<Restored> {
  const { object } = before;
  const isTouched = (path: Path): boolean =>
    object !== undefined && expected !== undefined && !sameJson(at(object, path) ?? [], at(expected, path) ?? []);
  const marks = before.isScale ? [] : [...MARKS, ...RARE_MARKS.filter(isTouched)];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const now = await calls.call(before.member, {
      method: "GET",
      path: before.path,
    });
    if (now.status === 404) return before.object === undefined ? "AsBefore" : "ChangedSince";
    if (!isDone(now) || now.json === undefined) return "Failed";
    if (before.object !== undefined && isSame(now.json, before.object, marks)) return "AsBefore";
    if (expected === undefined) return "Failed";
    if (!isSame(withoutChoices(now.json), withoutChoices(expected), marks)) return "ChangedSince";
    const reply = await calls.call(before.member, restoring(before, now.json, marks));
    if (isDone(reply)) return "AsBefore";
    // A controller that wrote the status in between makes it a conflict; nothing that a user asked for has changed.
    if (reply.status !== 409) return "Failed";
  }
  return "Failed";
}

/** `marks` are what is compared; of a Scale, there are none. */
function isSame(now: Json, then: Json, marks: readonly Path[]): boolean {
  // A Scale leaves out 0.
  if (marks.length === 0)
    return (numberAt(now, ["spec", "replicas"]) ?? 0) === (numberAt(then, ["spec", "replicas"]) ?? 0);
  const [one, other] = [BY_CONTROLLERS.reduce(without, now), BY_CONTROLLERS.reduce(without, then)];
  return marks.every((path) => sameJson(at(one, path) ?? {}, at(other, path) ?? {}));
}

/** The mark of an object that does not exist. */
export const ABSENT = "";

/** A short text that two objects share if they say the same, but for what servers and controllers fill in. */
export function markOf(object: Json | undefined, isScale: boolean): string {
  if (object === undefined) return ABSENT;
  const replicas = numberAt(object, ["spec", "replicas"]) ?? 0;
  const plain = withoutChoices(BY_CONTROLLERS.reduce(without, object));
  const said = isScale ? replicas : MARKS.map((path) => at(plain, path) ?? {});
  return hash("sha256", writeJson(said), "base64").slice(0, 16);
}

function withoutChoices(object: Json): Json {
  const rest = BY_SERVERS.reduce(without, object);
  const ports = listAt(rest, PORTS).map((port) => without(port, ["nodePort"]));
  return ports.length === 0 ? rest : withValue(rest, PORTS, ports);
}

/** What a controller filled in since stays: most of it can not be taken out again. */
function withFilledIn(object: Json, now: Json): Json {
  return BY_CONTROLLERS.reduce((all, path) => {
    const value = at(now, path);
    return value === undefined || at(all, path) !== undefined ? all : withValue(all, path, value);
  }, object);
}

function restoring({ path, object, method, isScale }: Before, now: Json, marks: readonly Path[]): Call {
  const version = textAt(now, VERSION) ?? "";
  if (object === undefined) {
    const preconditions = { uid: textAt(now, ["metadata", "uid"]) ?? "" };
    const options = {
      kind: "DeleteOptions",
      apiVersion: "v1",
      propagationPolicy: "Background",
      preconditions,
    };
    return {
      method: "DELETE",
      path,
      contentType: JSON_TYPE,
      body: Buffer.from(writeJson(options)),
    };
  }
  if (isScale) {
    const replicas = numberAt(object, ["spec", "replicas"]) ?? 1;
    const metadata = {
      name: textAt(now, ["metadata", "name"]) ?? "",
      resourceVersion: version,
    };
    const namespace = textAt(now, ["metadata", "namespace"]);
    const scale = {
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      spec: { replicas },
    };
    const body =
      method === "PUT"
        ? {
            ...scale,
            metadata: {
              ...metadata,
              ...(namespace === undefined ? {} : { namespace }),
            },
          }
        : { spec: { replicas }, metadata: { resourceVersion: version } };
    return {
      method: method === "PUT" ? "PUT" : "PATCH",
      path: `${path}/scale`,
      ...encoded(method, body),
    };
  }
  const wanted = withValue(withFilledIn(object, now), VERSION, version);
  if (method === "PUT") return { method, path, ...encoded(method, wanted) };
  const patch = marks.reduce<Json>((all, mark) => withValue(all, mark, mergePatch(at(now, mark), at(wanted, mark))), {
    metadata: { resourceVersion: version },
  });
  return { method: "PATCH", path, ...encoded("PATCH", patch) };
}

function encoded(method: string, json: Json): Pick<Call, "contentType" | "body"> {
  const contentType = method === "PUT" ? JSON_TYPE : "application/merge-patch+json";
  return { contentType, body: Buffer.from(writeJson(json)) };
}

/** The merge patch, RFC 7386, that makes `to` of `from`. */
export function mergePatch(from: Json | undefined, to: Json | undefined): Json {
  if (!isFields(from) || !isFields(to)) return to ?? null;
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  const changed = names.filter((name) => !sameJson(at(from, [name]), at(to, [name])));
  return Object.fromEntries(changed.map((name) => [name, mergePatch(at(from, [name]), at(to, [name]))]));
}
