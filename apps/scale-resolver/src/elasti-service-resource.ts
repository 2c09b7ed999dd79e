import { ELASTI_SERVICE } from "@evenkeel/api";
import type { Condition, KubeObject, ObjectReference, ResourceTypeOf } from "@evenkeel/kube";
import type { RouteRef, TargetRef } from "./binding.ts";
import type { State } from "./decide/state.ts";

/** An ElastiService as the API server hands it out: its spec is whatever somebody stored, until it is parsed. */
export interface StoredElastiService extends KubeObject {
  readonly spec?: unknown;
  readonly status?: ElastiServiceStatus;
}

export interface ElastiServiceStatus {
  readonly observedGeneration?: number;
  readonly state?: State;
  readonly since?: string;
  /** The workload that `replicas` are of. */
  readonly scaleTargetRef?: TargetRef;
  readonly replicas?: number;
  /** The ScaledObject that is paused since the workload was put to sleep; empty: there was none. Absent: it was not put to sleep here. */
  readonly pausedScaledObject?: string;
  /** The Service that `ports` are of. */
  readonly service?: string;
  readonly ports?: readonly PortRecord[];
  /** The route that leads to the resolver now. */
  readonly route?: RouteRef;
  readonly selected?: number;
  readonly lastWakeMilliseconds?: number;
  readonly lastReconciledTime?: string;
  readonly lastScaledUpTime?: string;
  /** The original's word: `proxy` in every state but Serve. */
  readonly mode?: string;
  readonly conditions?: readonly Condition[];
}

/** The resolver's port for a port of the Service, which has the empty name if it has none. */
export interface PortRecord {
  readonly name: string;
  readonly port: number;
}

const { group, version, kind, plural } = ELASTI_SERVICE;

export const elastiServices: ResourceTypeOf<StoredElastiService> = { group, version, kind, plural, namespaced: true };

/** Set to "true" on an object, it is left alone. */
export const PAUSED = "evenkeel.io/paused";

/** Set to "true" on an object, its Service is given back to its pods: set on all before the program is uninstalled. */
export const RELEASE = "evenkeel.io/release";

/** Keeps an object until its workload is awake and its Service as it was. The original's own, so that either can let go. */
export const FINALIZER = "elasti.truefoundry.com/finalizer";

/** As an Event or an owner reference names it. */
export function referenceOf(object: StoredElastiService | undefined): ObjectReference | undefined {
  if (!object) return undefined;
  const { namespace = "", name = "", uid = "" } = object.metadata;
  return { apiVersion: `${group}/${version}`, kind, namespace, name, uid };
}
