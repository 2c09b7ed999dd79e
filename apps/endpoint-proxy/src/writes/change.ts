import { randomBytes } from "node:crypto";
import { at, type Json, numberAt, textAt, withValue } from "../bodies/json-text.ts";
import { type EncodedBody, JsonBody, type ObjectBody } from "../bodies/object-body.ts";
import { type PatchBody, REPLICAS, VERSION } from "../bodies/patch-body.ts";
import { PLACEMENT } from "../reads/merged-object.ts";
import type { Kind } from "./verb-table.ts";
import { forPeer, replacing, replacingEncoded } from "./what-is-copied.ts";

/** What one member's write must say. */
export interface Target {
  readonly isOwn: boolean;
  /** The member's object, or its Scale. Undefined if it has none. */
  readonly current: Json | undefined;
  readonly replicas: number | undefined;
  readonly annotations: Readonly<Record<string, string>>;
  readonly label: { readonly key: string; readonly value: string } | undefined;
  readonly version: string | undefined;
}

/** What a request asks for, before it is made into one request for each member. */
export interface Change {
  readonly method: "POST" | "PUT" | "PATCH";
  /** Whether a member that has no such object gets one from this request alone. */
  readonly creates: boolean;
  /** The resourceVersion that the client insists on. */
  readonly version: string | undefined;
  /** What it says of the object: of a patch, only what it changes. */
  readonly view: Json;
  /** Replicas in all after it; undefined if it leaves them alone. */
  replicasAfter(merged: Json | undefined): number | undefined;
  /** The object, or the Scale, after it. Throws PatchMismatch. */
  after(merged: Json | undefined): Json;
  /** Whether it changes the number of replicas and nothing else. */
  readonly isReplicasOnly: boolean;
  bodyFor(target: Target): EncodedBody;
}

const TEMPLATE = ["spec", "template"];

/** A POST. A name that the server would make up is made up here, so that all members get the same. */
export function creation(kind: Kind, sent: ObjectBody): Change {
  const body = named(sent.remove(["metadata", "annotations", PLACEMENT]));
  return {
    ...{ method: "POST", creates: true, version: undefined, view: body.view },
    replicasAfter: () => replicasIn(body.view),
    after: () => body.view,
    isReplicasOnly: false,
    bodyFor: (target) => edited(target.isOwn ? body : forPeer(kind, body), target).encode(),
  };
}

/** A PUT of an object. */
export function replacement(kind: Kind, sent: ObjectBody): Change {
  const body = sent.remove(["metadata", "annotations", PLACEMENT]);
  return {
    ...{
      method: "PUT",
      creates: true,
      version: textAt(body.view, VERSION),
      view: body.view,
    },
    replicasAfter: () => replicasIn(body.view),
    after: () => body.view,
    isReplicasOnly: false,
    bodyFor: (target) => {
      const versioned = (one: ObjectBody): ObjectBody =>
        target.version === undefined ? one.remove(VERSION) : one.set(VERSION, target.version);
      if (target.isOwn) return versioned(edited(body, target)).encode();
      if (target.current === undefined) return edited(forPeer(kind, body), target).encode();
      const json = body instanceof JsonBody ? new JsonBody(replacing(kind, body.view, target.current)) : undefined;
      return versioned(edited(json ?? replacingEncoded(kind, body, target.current), target)).encode();
    },
  };
}

/** A PUT of a Scale. */
export function rescale(body: ObjectBody): Change {
  return {
    ...{
      method: "PUT",
      creates: false,
      version: textAt(body.view, VERSION),
      view: {},
    },
    replicasAfter: () => numberAt(body.view, REPLICAS) ?? 0,
    after: () => body.view,
    isReplicasOnly: true,
    bodyFor: ({ current, replicas, version }) => {
      const uid = textAt(current, ["metadata", "uid"]);
      let scale = body.set(REPLICAS, replicas ?? 0);
      if (at(body.view, ["metadata", "uid"]) !== undefined && uid !== undefined)
        scale = scale.set(["metadata", "uid"], uid);
      return (version === undefined ? scale.remove(VERSION) : scale.set(VERSION, version)).encode();
    },
  };
}

export function patching(patch: PatchBody): Change {
  return {
    ...{
      method: "PATCH",
      creates: patch.isApply,
      version: patch.version,
      view: patch.view,
    },
    replicasAfter: (merged) => patch.replicasAfter(merged),
    after: (merged) => patch.after(merged),
    isReplicasOnly: patch.isReplicasOnly,
    bodyFor: (target) => patch.for(target),
  };
}

/** Kubernetes' default for a workload that does not say. */
function replicasIn(view: Json): number {
  const replicas = at(view, REPLICAS);
  return replicas === undefined || replicas === null ? 1 : (numberAt(replicas, []) ?? Number.NaN);
}

function edited(body: ObjectBody, { replicas, annotations, label }: Target): ObjectBody {
  let result = replicas === undefined ? body : body.set(REPLICAS, replicas);
  for (const [name, value] of Object.entries(annotations))
    result = result.set(["metadata", "annotations", name], value);
  if (label === undefined) return result;
  result = result.set(["metadata", "labels", label.key], label.value);
  const hasTemplate = at(body.view, TEMPLATE) !== undefined;
  return hasTemplate ? result.set([...TEMPLATE, "metadata", "labels", label.key], label.value) : result;
}

const CONSONANTS_AND_DIGITS = "bcdfghjklmnpqrstvwxz2456789";

function named(body: ObjectBody): ObjectBody {
  const [name, stem] = [textAt(body.view, ["metadata", "name"]), textAt(body.view, ["metadata", "generateName"])];
  if ((name ?? "") !== "" || (stem ?? "") === "") return body;
  const letters = [...randomBytes(5)].map((byte) => CONSONANTS_AND_DIGITS[byte % CONSONANTS_AND_DIGITS.length] ?? "x");
  return body.set(["metadata", "name"], `${(stem ?? "").slice(0, 58)}${letters.join("")}`);
}

/** A workload as a Scale: what a patch of `/scale` is laid over. */
export function scaleView(workload: Json | undefined): Json | undefined {
  if (workload === undefined) return undefined;
  const metadata = at(workload, ["metadata"]) ?? {};
  const status = { replicas: numberAt(workload, ["status", "replicas"]) ?? 0 };
  const scale = {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata,
    status,
  };
  return withValue(scale, REPLICAS, numberAt(workload, REPLICAS) ?? 1);
}
