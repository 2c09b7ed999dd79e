import { at, isFields, type Json, listAt, type Path, textAt } from "../bodies/json-text.ts";
import type { ApiPath } from "./api-path.ts";

/** On a workload: what its pods name is copied to the clusters where they run. */
export const FOLLOW = "evenkeel.io/follow";

export type ReferenceKind = "ConfigMap" | "Secret" | "ServiceAccount" | "PersistentVolumeClaim";

/** An object that a pod needs in order to start, in the namespace of the pod. */
export interface Reference {
  readonly kind: ReferenceKind;
  readonly name: string;
}

const RESOURCES: Readonly<Record<ReferenceKind, string>> = {
  ConfigMap: "configmaps",
  Secret: "secrets",
  ServiceAccount: "serviceaccounts",
  PersistentVolumeClaim: "persistentvolumeclaims",
};

/** Where a part of a pod spec names an object. What is marked as optional is not needed. */
const NAMES: readonly (readonly [path: Path, kind: ReferenceKind, field: string])[] = [
  [["configMap"], "ConfigMap", "name"],
  [["secret"], "Secret", "secretName"],
  [["secret"], "Secret", "name"],
  [["persistentVolumeClaim"], "PersistentVolumeClaim", "claimName"],
  [["configMapRef"], "ConfigMap", "name"],
  [["secretRef"], "Secret", "name"],
  [["valueFrom", "configMapKeyRef"], "ConfigMap", "name"],
  [["valueFrom", "secretKeyRef"], "Secret", "name"],
];

/** What the pods of a workload name, each once. Every namespace has a ServiceAccount `default`. */
export function referencesOf(workload: Json | undefined): readonly Reference[] {
  const spec = at(workload, ["spec", "template", "spec"]);
  const volumes = listAt(spec, ["volumes"]);
  const projected = volumes.flatMap((volume) => listAt(volume, ["projected", "sources"]));
  const containers = ["initContainers", "containers"].flatMap((field) => listAt(spec, [field]));
  const variables = containers.flatMap((one) => [...listAt(one, ["env"]), ...listAt(one, ["envFrom"])]);
  const named = [...volumes, ...projected, ...variables].flatMap(namesIn);
  const pulls = listAt(spec, ["imagePullSecrets"]).map((one): Reference => ({ kind: "Secret", name: textOf(one) }));
  const account = textAt(spec, ["serviceAccountName"]) ?? "default";
  const accounts: Reference[] = account === "default" ? [] : [{ kind: "ServiceAccount", name: account }];
  const all = [...accounts, ...pulls, ...named].filter(({ name }) => name !== "");
  return [...new Map(all.map((one) => [keyOf(one), one])).values()];
}

function namesIn(part: Json): readonly Reference[] {
  return NAMES.flatMap(([path, kind, field]): Reference[] => {
    const value = at(part, path);
    const name = textAt(value, [field]);
    return isFields(value) && name !== undefined && at(value, ["optional"]) !== true ? [{ kind, name }] : [];
  });
}

function textOf(json: Json): string {
  return textAt(json, ["name"]) ?? "";
}

/** `Secret db` */
export function keyOf({ kind, name }: Reference): string {
  return `${kind} ${name}`;
}

export function pathOfReference({ kind, name }: Reference, namespace: string | undefined): ApiPath {
  return {
    ...{ group: "", version: "v1", resource: RESOURCES[kind], namespace, name, subresource: undefined },
    query: new URLSearchParams(),
  };
}

/** Whether objects of this path are copied where workloads name them. */
export function isReferenced({ group, resource }: ApiPath): boolean {
  return group === "" && Object.values(RESOURCES).includes(resource);
}
