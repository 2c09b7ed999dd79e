import {
  controllerOf,
  type Deployment,
  type KubeObject,
  type ReplicaSet,
  type ReplicationController,
  type StatefulSet,
} from "@evenkeel/kube";
import type { LabelSelector } from "@evenkeel/placement";
import type { Eviction } from "../../decide/evictions.ts";
import { NONE, type OwnerRow } from "../../decide/snapshot.ts";
import type { ClusterObjects } from "../cluster/cluster-objects.ts";
import type { PodTemplate } from "../cluster/observed-pod.ts";

type OwnerReference = NonNullable<ReturnType<typeof controllerOf>>;

/** An eviction whose replacement is not ready yet. `owner` and `workload` are uids. */
export type InFlight = Pick<Eviction, "namespace" | "owner" | "workload">;

/** The controllers of pods, each as a row when its first pod is seen. */
export class Owners {
  readonly rows: OwnerRow[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #deployments: ReadonlyMap<string, Deployment>;
  readonly #replicaSets: ReadonlyMap<string, ReplicaSet>;
  readonly #statefulSets: ReadonlyMap<string, StatefulSet>;
  readonly #replicationControllers: ReadonlyMap<string, ReplicationController>;
  readonly #surges: boolean;

  /** `surges`: the service may restart rollouts. */
  constructor(objects: ClusterObjects, surges: boolean) {
    this.#surges = surges;
    this.#deployments = byUid(objects.deployments);
    this.#replicaSets = byUid(objects.replicaSets);
    this.#statefulSets = byUid(objects.statefulSets);
    this.#replicationControllers = byUid(objects.replicationControllers);
  }

  /** The row of the template's controller, or NONE. */
  indexOf({ metadata }: PodTemplate): number {
    const owner = controllerOf({ metadata });
    if (owner === undefined) return NONE;
    const known = this.#indexes.get(owner.uid);
    if (known !== undefined) return known;
    this.#indexes.set(owner.uid, this.rows.length);
    return this.rows.push(this.#rowOf(owner, metadata.namespace ?? "")) - 1;
  }

  /** Adds the row of a workload that may have no pod now because its only one was evicted; none if it is gone. */
  addInFlight({ owner: uid, workload, namespace }: InFlight): void {
    if (this.#indexes.has(uid)) return;
    const row = this.#rowInFlight(uid, workload, namespace);
    if (row === undefined) return;
    this.#indexes.set(uid, this.rows.length);
    this.rows.push(row);
  }

  #rowInFlight(uid: string, workload: string, namespace: string): OwnerRow | undefined {
    const apiVersion = "apps/v1";
    for (const [kind, stored] of [
      ["ReplicaSet", this.#replicaSets.get(uid)],
      ["StatefulSet", this.#statefulSets.get(uid)],
      ["ReplicationController", this.#replicationControllers.get(uid)],
    ] as const) {
      if (stored !== undefined)
        return this.#rowOf({ apiVersion, kind, name: stored.metadata.name ?? "", uid }, namespace);
    }
    const deployment = this.#deployments.get(workload);
    if (deployment === undefined) return undefined;
    const { name = "" } = deployment.metadata;
    const { replicas = 1, minReadySeconds = 0 } = deployment.spec ?? {};
    const known = { kind: "ReplicaSet", namespace, name, uid, workload: { kind: "Deployment", name, uid: workload } };
    return { ...known, replicas, minReadySeconds, rollout: rolloutOf(deployment) };
  }

  /** The selector of the template's controller, from which the scheduler makes its default spread constraints. */
  selectorOf({ metadata }: PodTemplate): LabelSelector | null {
    const { uid = "" } = controllerOf({ metadata }) ?? {};
    const labels = this.#replicationControllers.get(uid)?.spec?.selector;
    if (labels !== undefined) return { matchLabels: labels };
    return this.#replicaSets.get(uid)?.spec?.selector ?? this.#statefulSets.get(uid)?.spec?.selector ?? null;
  }

  /** Whether the replacement of this pod would have another template: its StatefulSet has one that is newer. */
  isOtherRevision({ metadata }: PodTemplate, podName: string): boolean {
    const revision = metadata.labels?.["controller-revision-hash"];
    const set = this.#statefulSets.get(controllerOf({ metadata })?.uid ?? "");
    if (set === undefined || revision === undefined) return false;
    const { updateStrategy, ordinals } = set.spec ?? {};
    const partition = updateStrategy?.rollingUpdate?.partition ?? 0;
    const ordinal = Number(/-(\d+)$/.exec(podName)?.[1] ?? NaN) - (ordinals?.start ?? 0);
    const keepsOld = updateStrategy?.type !== "OnDelete" && ordinal < partition;
    const next = keepsOld ? set.status?.currentRevision : set.status?.updateRevision;
    return next !== undefined && next !== revision;
  }

  #rowOf({ kind, name, uid }: OwnerReference, namespace: string): OwnerRow {
    const known = { kind, namespace, name, uid, workload: { kind, name, uid } };
    const replicaSet = this.#replicaSets.get(uid);
    if (replicaSet !== undefined) return this.#rowOfReplicaSet(known, replicaSet);
    const set = this.#statefulSets.get(uid);
    if (set !== undefined) {
      const { replicas = 1, minReadySeconds = 0 } = set.spec ?? {};
      return { ...known, replicas, minReadySeconds, rollout: rolloutOfSet(set) };
    }
    const controller = this.#replicationControllers.get(uid);
    const { replicas, minReadySeconds = 0 } = controller?.spec ?? {};
    const rollout = controller === undefined ? "unknown" : "steady";
    return { ...known, replicas: controller === undefined ? null : (replicas ?? 1), minReadySeconds, rollout };
  }

  #rowOfReplicaSet(known: Omit<OwnerRow, "replicas" | "rollout" | "minReadySeconds">, object: ReplicaSet): OwnerRow {
    const { replicas = 1, minReadySeconds = 0 } = object.spec ?? {};
    const parent = controllerOf(object);
    if (parent === undefined) {
      const isSeen = isObserved(object, object.status?.observedGeneration);
      return { ...known, replicas, minReadySeconds, rollout: isSeen ? "steady" : "underWay" };
    }
    const { kind, name, uid } = parent;
    const workload = { kind, name, uid };
    const deployment = this.#deployments.get(uid);
    if (deployment === undefined) return { ...known, workload, replicas, minReadySeconds, rollout: "unknown" };
    const wanted = deployment.spec?.replicas ?? 1;
    const surge = this.#surges && canSurge(deployment, wanted) ? { canSurge: true } : {};
    return { ...known, workload, replicas: wanted, minReadySeconds, rollout: rolloutOf(deployment), ...surge };
  }
}

/** Whether a rollout keeps every old pod until its new one is ready. Percentages of maxUnavailable are rounded down. */
function canSurge({ spec }: Deployment, replicas: number): boolean {
  if ((spec?.strategy?.type ?? "RollingUpdate") !== "RollingUpdate") return false;
  const { maxUnavailable = "25%" } = spec?.strategy?.rollingUpdate ?? {};
  const share = /^(\d+)%$/.exec(String(maxUnavailable))?.[1];
  return share === undefined ? Number(maxUnavailable) === 0 : (Number(share) * replicas) / 100 < 1;
}

function byUid<T extends KubeObject>(objects: Iterable<T>): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const object of objects) found.set(object.metadata.uid ?? "", object);
  return found;
}

/** Whether its controller has seen the present spec. */
function isObserved({ metadata }: KubeObject, observedGeneration = 0): boolean {
  return observedGeneration >= (metadata.generation ?? 0);
}

/**
 * A Deployment says in its condition Progressing that a rollout ended, and keeps saying so when a pod is evicted later.
 * Without progressDeadlineSeconds it has no such condition, and its counts tell.
 */
function rolloutOf(deployment: Deployment): OwnerRow["rollout"] {
  const { spec, status } = deployment;
  if (spec?.paused === true) return "paused";
  if (!isObserved(deployment, status?.observedGeneration)) return "underWay";
  const progress = status?.conditions?.find(({ type }) => type === "Progressing");
  if (progress !== undefined && progress.reason !== "NewReplicaSetAvailable") return "underWay";
  const { replicas = 0, updatedReplicas = 0 } = status ?? {};
  return updatedReplicas === replicas ? "steady" : "underWay";
}

function rolloutOfSet(set: StatefulSet): OwnerRow["rollout"] {
  const { spec, status } = set;
  if (!isObserved(set, status?.observedGeneration)) return "underWay";
  // With OnDelete only the pods that have the old template are concerned; see isOtherRevision.
  if (spec?.updateStrategy?.type === "OnDelete") return "steady";
  const { replicas = 1 } = spec ?? {};
  const toUpdate = Math.max(0, replicas - (spec?.updateStrategy?.rollingUpdate?.partition ?? 0));
  const isNew = status?.currentRevision === status?.updateRevision;
  return isNew || (status?.updatedReplicas ?? 0) >= toUpdate ? "steady" : "underWay";
}
