import {
  at,
  fieldsAt,
  isFields,
  isList,
  type Json,
  listAt,
  numberAt,
  type Path,
  textAt,
  without,
  withValue,
} from "../bodies/json-text.ts";
import type { ObjectBody } from "../bodies/object-body.ts";
import type { Kind } from "./verb-table.ts";
import { PLACEMENT } from "../reads/merged-object.ts";

/**
 * What belongs to one cluster and is never sent to another. Owner references name uids of one cluster: in another, the
 * garbage collector deletes the object.
 */
const NEVER_COPIED: readonly Path[] = [
  ["metadata", "uid"],
  ["metadata", "resourceVersion"],
  ["metadata", "creationTimestamp"],
  ["metadata", "deletionTimestamp"],
  ["metadata", "deletionGracePeriodSeconds"],
  ["metadata", "generation"],
  ["metadata", "managedFields"],
  ["metadata", "selfLink"],
  ["metadata", "ownerReferences"],
  ["metadata", "finalizers"],
  ["metadata", "annotations", "deployment.kubernetes.io/revision"],
  ["metadata", "annotations", "deployment.kubernetes.io/revision-history"],
  ["status"],
];

/** In a PersistentVolume that names its claim, the identity of the claim. */
const OF_ONE_CLAIM: readonly Path[] = [
  ["spec", "claimRef", "uid"],
  ["spec", "claimRef", "resourceVersion"],
];

const BIND_COMPLETED: Path = ["metadata", "annotations", "pv.kubernetes.io/bind-completed"];

/** What controllers write into a claim. With it, but without its volume, a claim counts as one that lost its data. */
const OF_ONE_BINDING: readonly Path[] = [
  BIND_COMPLETED,
  ...[
    "pv.kubernetes.io/bound-by-controller",
    "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/storage-resizer",
  ].map((name) => ["metadata", "annotations", name]),
];

/** What the member's own object keeps when it is replaced: its cluster chose it, or a controller there owns it. */
const KEPT: Readonly<Partial<Record<string, readonly Path[]>>> = {
  Service: [
    ["spec", "clusterIP"],
    ["spec", "clusterIPs"],
    ["spec", "healthCheckNodePort"],
    ["spec", "ipFamilies"],
  ],
  PersistentVolumeClaim: [["spec", "volumeName"], ...OF_ONE_BINDING],
  PersistentVolume: [["spec", "claimRef"]],
  Namespace: [["spec", "finalizers"]],
};

const KEPT_METADATA: readonly Path[] = [
  ["metadata", "ownerReferences"],
  ["metadata", "finalizers"],
  ["metadata", "annotations", "deployment.kubernetes.io/revision"],
];

/** A new object's body for a peer. A Service without an address of its own (`None`) stays so. */
export function forPeer(kind: Kind, body: ObjectBody): ObjectBody {
  let result = NEVER_COPIED.reduce((rest, path) => rest.remove(path), body);
  if (kind === "Service" && (textAt(body.view, ["spec", "clusterIP"]) ?? "None") !== "None") {
    result = result.remove(["spec", "clusterIP"]).remove(["spec", "clusterIPs"]);
  }
  if (kind === "PersistentVolume") result = OF_ONE_CLAIM.reduce((rest, path) => rest.remove(path), result);
  if (kind === "PersistentVolumeClaim") {
    // A volume that a user names, before the claim is bound, is meant for every cluster.
    if (at(body.view, BIND_COMPLETED) !== undefined) result = result.remove(["spec", "volumeName"]);
    result = OF_ONE_BINDING.reduce((rest, path) => rest.remove(path), result);
  }
  return result;
}

/** An object as another cluster stores it, as a new object for a peer. */
export function copyOfHolder(kind: string, object: Json): Json {
  const paths = [...NEVER_COPIED, ["metadata", "annotations", PLACEMENT], ...(KEPT[kind] ?? [])];
  return paths.reduce(without, object);
}

/** The object of a PUT that is not JSON as a peer takes it: what the peer's own object keeps is kept. */
export function replacingEncoded(kind: Kind, body: ObjectBody, current: Json): ObjectBody {
  return [...KEPT_METADATA, ...(KEPT[kind] ?? [])].reduce(
    (rest, path) => keptIn(rest, path, at(current, path)),
    forPeer(kind, body),
  );
}

function keptIn(body: ObjectBody, path: Path, value: Json | undefined): ObjectBody {
  const rest = body.remove(path);
  if (value === undefined) return rest;
  if (isFields(value)) {
    return Object.entries(value).reduce((all, [name, one]) => keptIn(all, [...path, name], one), rest);
  }
  const number = numberAt(value, []);
  if (number !== undefined) return rest.set(path, number);
  if (typeof value === "string") return rest.set(path, value);
  if (!isList(value)) return rest;
  const messages = value.filter(isFields);
  return rest.set(path, messages.length > 0 ? messages : value.filter((one) => typeof one === "string"));
}

/** The same for JSON. */
export function replacing(kind: string, body: Json, current: Json): Json {
  let result = NEVER_COPIED.reduce(without, body);
  for (const path of [...KEPT_METADATA, ...(KEPT[kind] ?? [])]) {
    const value = at(current, path);
    result = value === undefined ? without(result, path) : withValue(result, path, value);
  }
  return kind === "Service" ? withNodePorts(result, current) : result;
}

/** Node ports are chosen by each cluster, unless the request names one. */
function withNodePorts(service: Json, current: Json): Json {
  const ports = listAt(service, ["spec", "ports"]);
  if (ports.length === 0) return service;
  const known = listAt(current, ["spec", "ports"]);
  const kept = ports.map((port) => {
    if (at(port, ["nodePort"]) !== undefined) return port;
    const same = known.find(
      (one) =>
        numberAt(one, ["port"]) === numberAt(port, ["port"]) &&
        (textAt(one, ["protocol"]) ?? "TCP") === (textAt(port, ["protocol"]) ?? "TCP"),
    );
    const nodePort = at(same, ["nodePort"]);
    return nodePort === undefined ? port : { ...fieldsAt(port, []), nodePort };
  });
  return withValue(service, ["spec", "ports"], kept);
}
