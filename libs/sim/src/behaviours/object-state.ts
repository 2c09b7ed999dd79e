import { equal, type Fields, fieldsOr, listOr, textOr } from "../json.ts";
import { keyOf, type OwnerReference, type StoredObject } from "../object.ts";
import { timestamp } from "../objects/identity.ts";
import type { Place } from "../objects/objects.ts";
import type { ResourceType } from "../types/resource-type.ts";
import type { TypeRegistry } from "../types/type-registry.ts";
import type { World } from "./behaviour.ts";

/** The tables that behaviours work on. */
export const tables = {
  budgets: "policy/poddisruptionbudgets",
  deployments: "apps/deployments",
  namespaces: "/namespaces",
  nodes: "/nodes",
  pods: "/pods",
  replicaSets: "apps/replicasets",
  replicationControllers: "/replicationcontrollers",
  services: "/services",
  slices: "discovery.k8s.io/endpointslices",
  statefulSets: "apps/statefulsets",
  volumeClaims: "/persistentvolumeclaims",
  volumes: "/persistentvolumes",
} as const;

/** The built-in type that a table holds. */
export function typeOf(types: TypeRegistry, table: string): ResourceType {
  const type = types.ofTable(table);
  if (type === undefined) throw new Error(`no type is kept in ${table}`);
  return type;
}

export function specOf(object: StoredObject): Fields {
  return fieldsOr(object["spec"]);
}

export function statusOf(object: StoredObject): Fields {
  return fieldsOr(object["status"]);
}

export function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

export function placeOf({ metadata: { namespace, name } }: StoredObject): Place {
  return { namespace, name };
}

export function isGoing({ metadata }: StoredObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function controllerOf({ metadata }: StoredObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** How an object names itself as the controller of another. */
export function controlledBy({ apiVersion, kind, metadata: { name, uid } }: StoredObject): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * Writes a status, unless it is the same. Its fields get no entry in `managedFields`: that keeps thousands of pods
 * small and their changes cheap.
 */
export function putStatus({ store }: World, tableName: string, object: StoredObject, status: Fields): void {
  const table = store.table(tableName);
  const now = table.get(keyOf(object));
  if (now !== undefined && !equal(now["status"], status)) store.put(table, { ...now, status });
}

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
}

export function conditionOf(object: StoredObject, type: string): Fields | undefined {
  return listOr(statusOf(object)["conditions"])
    .map(fieldsOr)
    .find((condition) => condition["type"] === type);
}

/** An object's conditions with some of them set. The time of one is that of the last change of its status. */
export function withConditions(object: StoredObject, conditions: readonly Condition[], now: number): readonly Fields[] {
  const others = listOr(statusOf(object)["conditions"])
    .map(fieldsOr)
    .filter(({ type }) => conditions.every((one) => one.type !== type));
  const set = conditions.map((condition) => {
    const before = conditionOf(object, condition.type);
    const same = before?.["status"] === condition.status;
    return { ...condition, lastTransitionTime: same ? before["lastTransitionTime"] : timestamp(now) };
  });
  return [...others, ...set];
}

/** Counts as statuses carry them: the API leaves out those that are zero. */
export function nonZero(counts: Readonly<Record<string, number>>): Fields {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

export function isReady(pod: StoredObject): boolean {
  return conditionOf(pod, "Ready")?.["status"] === "True";
}

/** Whether a pod has ended for good. */
export function isOver(pod: StoredObject): boolean {
  return ["Succeeded", "Failed"].includes(textOr(statusOf(pod)["phase"]));
}

/** Milliseconds until a ready pod counts as available; 0 if it does, Infinity if it is not ready. */
export function untilAvailable(pod: StoredObject, minReadySeconds: number, now: number): number {
  if (!isReady(pod)) return Infinity;
  const since = Date.parse(textOr(conditionOf(pod, "Ready")?.["lastTransitionTime"]));
  return minReadySeconds === 0 ? 0 : Math.max(0, since + minReadySeconds * 1000 - now);
}
