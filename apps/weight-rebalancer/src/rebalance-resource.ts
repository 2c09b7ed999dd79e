import { REBALANCE, type RebalanceStatus } from "@evenkeel/api";
import type { KubeObject, ObjectReference, ResourceTypeOf } from "@evenkeel/kube";

/** A Rebalance as the API server hands it out: its spec is whatever somebody stored, until it is parsed. */
export interface StoredRebalance extends KubeObject {
  readonly spec?: unknown;
  readonly status?: RebalanceStatus;
}

const { group, version, kind, plural } = REBALANCE;

export const rebalances: ResourceTypeOf<StoredRebalance> = { group, version, kind, plural, namespaced: true };

/** Set to "true" on an object, it is left alone. */
export const PAUSED = "evenkeel.io/paused";

export function isPaused(annotations: Readonly<Record<string, string>> | undefined): boolean {
  return annotations?.[PAUSED] === "true";
}

/** Keeps an object until its weight is back at what it was. */
export const REVERT_FINALIZER = "evenkeel.io/revert-weight";

/** As an Event names it. */
export function referenceOf(object: StoredRebalance | undefined): ObjectReference | undefined {
  if (!object) return undefined;
  const { namespace = "", name = "", uid = "" } = object.metadata;
  return { apiVersion: `${group}/${version}`, kind, namespace, name, uid };
}
