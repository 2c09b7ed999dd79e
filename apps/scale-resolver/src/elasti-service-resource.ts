import { ELASTI_SERVICE, type ElastiServiceStatus } from "@evenkeel/api";
import type { ResourceTypeOf, StoredObject } from "@evenkeel/kube";

/** An ElastiService as the API server stores it. Its spec is not trusted until it is parsed. */
export type StoredElastiService = StoredObject<ElastiServiceStatus>;

/** The resolver's port for a port of the Service, whose name is empty if it has none. */
export type PortRecord = NonNullable<ElastiServiceStatus["ports"]>[number];

const { group, version, kind, plural } = ELASTI_SERVICE;

export const elastiServices: ResourceTypeOf<StoredElastiService> = { group, version, kind, plural, namespaced: true };

/** Set to "true" on an object, its Service is released to its pods: set on all objects before the program is uninstalled. */
export const RELEASE = "evenkeel.io/release";

/** Keeps an object until its workload is awake and its Service is restored. KubeElasti's own name, so that either program can release it. */
export const FINALIZER = "elasti.truefoundry.com/finalizer";

/** Whether an object is being deleted, or the program is about to be uninstalled. */
export function isReleased({ metadata }: StoredElastiService): boolean {
  return metadata.deletionTimestamp !== undefined || metadata.annotations?.[RELEASE] === "true";
}
