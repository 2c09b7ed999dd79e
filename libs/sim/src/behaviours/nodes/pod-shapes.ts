import {
  type ClaimJson,
  type Labels,
  type LabelSelector,
  type PodJson,
  podShape,
  type PodShape,
} from "@evenkeel/placement";
import { type Fields, fieldsOr, isFields, listOr, textOr } from "../../json.ts";
import { objectKey, type StoredObject } from "../../object.ts";
import type { Store } from "../../storage/store.ts";
import { controllerOf, specOf, tables } from "../object-state.ts";

const OWNER_TABLES: Readonly<Record<string, string>> = {
  ReplicaSet: tables.replicaSets,
  ReplicationController: tables.replicationControllers,
  StatefulSet: tables.statefulSets,
};

/**
 * What decides where a pod may run. A limit stands in for a request that is missing, as the API server has it. Claims
 * that are not bound mean nothing, because nothing binds them here.
 */
export function shapeOf(pod: StoredObject, store: Store): PodShape {
  const { namespace } = pod.metadata;
  const claimOf = (name: string): StoredObject | undefined =>
    store.table(tables.volumeClaims).get(objectKey(namespace, name));
  const volumeOf = (name: string): StoredObject | undefined => store.table(tables.volumes).get(name);
  const isBound = (volume: unknown): boolean => {
    const claim = claimOf(textOr(fieldsOr(fieldsOr(volume)["persistentVolumeClaim"])["claimName"]));
    return claim !== undefined && volumeOf(textOr(specOf(claim)["volumeName"])) !== undefined;
  };
  const spec = specOf(pod);
  const resolved = {
    ...spec,
    containers: listOr(spec["containers"]).map(withRequests),
    initContainers: listOr(spec["initContainers"]).map(withRequests),
    volumes: listOr(spec["volumes"]).filter(isBound),
  };
  return podShape({ metadata: pod.metadata, spec: resolved, status: fieldsOr(pod["status"]) } as PodJson, {
    claim: (_, name) => claimOf(name) as ClaimJson | undefined,
    volume: (name) => volumeOf(name),
    ownerSelector: ownerSelector(pod, store),
  });
}

function withRequests(container: unknown): Fields {
  const resources = fieldsOr(fieldsOr(container)["resources"]);
  const requests = { ...fieldsOr(resources["limits"]), ...fieldsOr(resources["requests"]) };
  return { ...fieldsOr(container), resources: { requests } };
}

function ownerSelector(pod: StoredObject, store: Store): LabelSelector | null {
  const owner = controllerOf(pod);
  const table = OWNER_TABLES[owner?.kind ?? ""];
  if (owner === undefined || table === undefined) return null;
  const found = store.table(table).get(objectKey(pod.metadata.namespace, owner.name));
  const selector = found === undefined ? undefined : specOf(found)["selector"];
  if (!isFields(selector)) return null;
  // A ReplicationController has the labels themselves.
  return owner.kind === "ReplicationController" ? { matchLabels: selector as Labels } : selector;
}
