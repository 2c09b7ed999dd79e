import { controllerOf, keepOnly, type KubeObject, type Pod } from "@evenkeel/kube";
import { quantity } from "@evenkeel/placement";
import { POD, UNKNOWN } from "../../decide/snapshot.ts";
import { Interned } from "./interned.ts";

/** What a plan needs of a pod. Replicas of one owner share their `template`, which is most of it. */
export interface ObservedPod extends KubeObject {
  readonly template: PodTemplate;
  readonly node: string | null;
  readonly priority: number;
  readonly deletionCost: number;
  /** Milliseconds since the epoch, or UNKNOWN. */
  readonly startedAt: number;
  readonly readySince: number;
  /** Sum of the limits of its emptyDir volumes, or UNKNOWN where one has none. */
  readonly emptyDirBytes: number;
  /** Sum of the bits of POD that the pod alone tells. */
  readonly flags: number;
  /** The annotation `rebalancer.dev/workload`. */
  readonly workloadKind: string | null;
  /** It ended and takes nothing of its node. */
  readonly isDone: boolean;
}

/** What replicas have in common: their controller, and the part of a pod that decides where it may run. */
export type PodTemplate = Pick<Pod, "metadata" | "spec" | "status">;

const keepTemplate = keepOnly<Pod>(
  ...["containers", "initContainers"].flatMap((list) =>
    ["name", "image", "resources", "restartPolicy", "ports"].map((field) => `spec.${list}.${field}`),
  ),
  ...["schedulerName", "schedulingGates", "resourceClaims", "preemptionPolicy", "nodeSelector", "affinity"].map(
    (field) => `spec.${field}`,
  ),
  ...["tolerations", "topologySpreadConstraints", "resources", "overhead", "hostNetwork"].map(
    (field) => `spec.${field}`,
  ),
  ...["containerStatuses", "initContainerStatuses"].flatMap((list) =>
    ["name", "resources", "allocatedResources"].map((field) => `status.${list}.${field}`),
  ),
  ...["resources", "allocatedResources"].map((field) => `status.${field}`),
);

/** Volumes that neither bind a pod to a node nor hold data: their names differ from replica to replica. */
const CONFIGURATION = ["configMap", "secret", "downwardAPI", "projected"];

type Volume = NonNullable<NonNullable<Pod["spec"]>["volumes"]>[number];

/** Cuts pods down as they arrive, so that a cluster of 150,000 pods fits into memory. */
export class PodObserver {
  readonly #templates = new Interned<PodTemplate>();

  readonly observe = (pod: Pod): ObservedPod => {
    const { metadata, spec, status } = pod;
    const { annotations = {}, deletionTimestamp } = metadata;
    const volumes = (spec?.volumes ?? []).filter((volume) => !CONFIGURATION.some((source) => source in volume));
    const { name = "", namespace = "", uid = "", resourceVersion = "" } = metadata;
    return {
      metadata: {
        name,
        namespace,
        uid,
        resourceVersion,
        ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      },
      template: this.#templates.one(templateOf(pod, volumes)),
      node: spec?.nodeName ?? null,
      priority: spec?.priority ?? 0,
      deletionCost: Number.parseInt(annotations["controller.kubernetes.io/pod-deletion-cost"] ?? "", 10) || 0,
      startedAt: timeOf(status?.startTime),
      readySince: readySince(status?.conditions),
      emptyDirBytes: emptyDirBytes(volumes),
      flags: flagsOf(pod, volumes),
      workloadKind: annotations["rebalancer.dev/workload"] ?? null,
      isDone: status?.phase === "Succeeded" || status?.phase === "Failed",
    };
  };
}

function templateOf(pod: Pod, volumes: readonly Volume[]): PodTemplate {
  const { spec = {}, status } = keepTemplate(pod);
  const { namespace = "", labels = {}, name = "" } = pod.metadata;
  const owner = controllerOf(pod);
  // The claim of an ephemeral volume is named after the pod.
  const named = volumes.some(({ ephemeral }) => ephemeral !== undefined) ? { name } : {};
  return {
    metadata: { namespace, labels, ...(owner !== undefined && { ownerReferences: [owner] }), ...named },
    spec: { ...(spec as NonNullable<Pod["spec"]>), ...(volumes.length > 0 && { volumes }) },
    ...statusOf(pod, status),
  };
}

/** What a resize of the pod has come to. Other conditions differ from replica to replica. */
function statusOf({ status }: Pod, kept: Pod["status"]): Pick<PodTemplate, "status"> {
  const pending = status?.conditions?.find(({ type }) => type === "PodResizePending");
  const conditions = pending && {
    conditions: [{ type: pending.type, status: pending.status, reason: pending.reason ?? "" }],
  };
  return kept === undefined && conditions === undefined ? {} : { status: { ...kept, ...conditions } };
}

function flagsOf({ metadata, spec, status }: Pod, volumes: readonly Volume[]): number {
  const { annotations = {}, deletionTimestamp } = metadata;
  const source = annotations["kubernetes.io/config.source"] ?? "api";
  const is: Partial<Record<keyof typeof POD, boolean>> = {
    mirror: "kubernetes.io/config.mirror" in annotations || source !== "api",
    terminating: deletionTimestamp !== undefined,
    pinned: annotations["rebalancer.dev/pinned"] === "true",
    moveForbidden: annotations["rebalancer.dev/allow-move"] === "false",
    safeToEvictFalse: annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] === "false",
    doNotDisrupt: annotations["karpenter.sh/do-not-disrupt"] === "true",
    hostPath: volumes.some(({ hostPath }) => hostPath !== undefined),
    emptyDir: volumes.some(({ emptyDir }) => emptyDir !== undefined),
    pending: spec?.nodeName === undefined || status?.phase === "Pending",
  };
  return (Object.keys(is) as (keyof typeof POD)[]).reduce((sum, flag) => sum + (is[flag] === true ? POD[flag] : 0), 0);
}

/** A limit of 0 is none for the kubelet. */
function emptyDirBytes(volumes: readonly Volume[]): number {
  const limits = volumes.flatMap(({ emptyDir }) =>
    emptyDir === undefined ? [] : [quantity(emptyDir.sizeLimit ?? "")],
  );
  return limits.some((limit) => !(limit > 0)) ? UNKNOWN : limits.reduce((sum, limit) => sum + limit, 0);
}

function readySince(conditions: NonNullable<Pod["status"]>["conditions"] = []): number {
  const ready = conditions.find(({ type }) => type === "Ready");
  return ready?.status === "True" ? timeOf(ready.lastTransitionTime) : UNKNOWN;
}

function timeOf(text: string | undefined): number {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? UNKNOWN : time;
}
