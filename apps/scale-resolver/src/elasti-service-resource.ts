import { ELASTI_SERVICE, type ElastiServiceStatus } from "@evenkeel/api";
import type { ResourceTypeOf, StoredObject } from "@evenkeel/kube";

/** An ElastiService as the API server stores it. Its spec is not trusted until it is parsed. */
export type StoredElastiService = StoredObject<ElastiServiceStatus>;

/** The resolver's port for a port of the Service. The name is empty if the Service port has no name. */
export type PortRecord = NonNullable<ElastiServiceStatus["ports"]>[number];

const { group, version, kind, plural } = ELASTI_SERVICE;

export const elastiServices: ResourceTypeOf<StoredElastiService> = { group, version, kind, plural, namespaced: true };

/** If "true" on an object, its Service is released to its pods. Set it on all objects before an uninstall. */
export const RELEASE = "evenkeel.io/release";

/**
 * Keeps an object until its workload is awake and its Service is restored. The name is KubeElasti's, so that either
 * program can release the object.
 */
export const FINALIZER = "elasti.truefoundry.com/finalizer";

/** Whether an object is being deleted, or is released before an uninstall. */
export function isReleased({ metadata }: StoredElastiService): boolean {
  return metadata.deletionTimestamp !== undefined || metadata.annotations?.[RELEASE] === "true";
}
