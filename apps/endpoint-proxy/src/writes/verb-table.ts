import type { ApiPath } from "./api-path.ts";

/** The kinds that the table names. Everything else is the own cluster's alone. */
export type Kind = (typeof KINDS)[number];

const KINDS = [
  "Namespace",
  "Pod",
  "Service",
  "PersistentVolume",
  "PersistentVolumeClaim",
  "Deployment",
  "StatefulSet",
] as const;

const RESOURCES: Readonly<Record<string, Kind>> = {
  "/namespaces": "Namespace",
  "/pods": "Pod",
  "/services": "Service",
  "/persistentvolumes": "PersistentVolume",
  "/persistentvolumeclaims": "PersistentVolumeClaim",
  "apps/deployments": "Deployment",
  "apps/statefulsets": "StatefulSet",
};

/**
 * What happens to a request.
 *
 *     own     sent to the own cluster as received; its answer is the answer
 *     merge   asked of every cluster; the answer is one object made of theirs
 *     copy    sent to every cluster; the answer is the own cluster's
 *     label   as `copy`, and each copy gets the label of its cluster, on the pod template too
 *     split   as `label`, and `spec.replicas` is divided; the answer is the merged object
 *     divide  as `split`, but a label is only set where the request has that label
 */
export type Treatment = "own" | "merge" | "copy" | "label" | "split" | "divide";

/**
 * The README of the original, section "Proxy Detail", as a table. The columns are `KINDS` in order. A collection of any
 * kind is read from all clusters, except ClusterScores; that is not part of this table (see reads/).
 */
// prettier-ignore
const TABLE: Readonly<Record<string, readonly Treatment[]>> = {
  //       Namespace  Pod     Service  PV       PVC      Deployment  StatefulSet
  GET:    ["merge",   "own",  "merge", "merge", "merge", "merge",    "merge"],
  POST:   ["label",   "own",  "label", "label", "label", "split",    "split"],
  PUT:    ["label",   "own",  "label", "label", "label", "split",    "split"],
  PATCH:  ["own",     "own",  "copy",  "copy",  "copy",  "divide",   "divide"],
  DELETE: ["copy",    "copy", "copy",  "copy",  "copy",  "copy",     "copy"],
  HEAD:   ["own",     "own",  "own",   "own",   "own",   "own",      "own"],
};

export interface Rule {
  readonly kind: Kind | undefined;
  readonly treatment: Treatment;
}

/** `/scale` is treated like its object. Every other part of an object, such as `/status`, is the own cluster's. */
export function ruleOf(method: string, path: ApiPath): Rule {
  const kind = RESOURCES[`${path.group}/${path.resource}`];
  if (kind === undefined) return { kind, treatment: "own" };
  if (path.subresource !== undefined && !(path.subresource === "scale" && isDivided(kind))) {
    return { kind, treatment: "own" };
  }
  return { kind, treatment: TABLE[method]?.[KINDS.indexOf(kind)] ?? "own" };
}

export function kindNamed(name: string): Kind | undefined {
  return KINDS.find((kind) => kind === name);
}

/** Whether the replicas of this kind are divided over the clusters. */
export function isDivided(kind: Kind | undefined): kind is "Deployment" | "StatefulSet" {
  return kind === "Deployment" || kind === "StatefulSet";
}

/** Whether objects of this kind and the same name in several clusters are shown as one. */
export function isCopied(kind: Kind | undefined): boolean {
  return kind !== undefined && kind !== "Pod";
}
