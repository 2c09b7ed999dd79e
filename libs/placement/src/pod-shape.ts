import type {
  Amounts,
  Labels,
  LabelSelector,
  PodAffinityFacts,
  PodAffinityTerm,
  PodShape,
  SpreadConstraint,
  UnmodelledReason,
  VolumeFacts,
} from "./facts.ts";
import type {
  ClaimJson,
  PersistentVolumeJson,
  PodAffinityJson,
  PodAffinityTermJson,
  PodJson,
  PodSpecJson,
  SpreadConstraintJson,
  VolumeJson,
} from "./kubernetes-json.ts";
import { effectiveRequests, scoredRequests } from "./requests.ts";
import { sorted } from "./sorted.ts";

/** Where the objects are found that a pod only names. */
export interface PodLookups {
  claim(namespace: string, name: string): ClaimJson | undefined;
  volume(name: string): PersistentVolumeJson | undefined;
  /** Selector of the ReplicaSet, StatefulSet or ReplicationController that owns the pod; null where there is none. */
  readonly ownerSelector: LabelSelector | null;
}

export const NO_LOOKUPS: PodLookups = { claim: () => undefined, volume: () => undefined, ownerSelector: null };

const ZONE_LABELS = [
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
];

/**
 * Everything of a pod that decides where it may run. Pods that the scheduler treats alike have shapes with equal JSON
 * text. `nodeName` is null, since a replacement has none; a pod that asked for its node by name has to be kept out by
 * the caller.
 */
export function podShape(
  { metadata = {}, spec = {}, status = {} }: PodJson,
  lookups: PodLookups = NO_LOOKUPS,
): PodShape {
  const { namespace = "default", labels = {} } = metadata;
  const { volumes, fault } = volumeFacts(spec.volumes ?? [], namespace, metadata.name ?? "", lookups);
  const requests = effectiveRequests(spec, status);
  const nodeAffinity = spec.affinity?.nodeAffinity;
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const images = [
    ...containers.map(({ image }) => image),
    ...(spec.volumes ?? []).map(({ image }) => image?.reference),
  ];
  return sorted({
    namespace,
    labels,
    requests,
    scoredRequests: scoredRequests(spec, status),
    hostPorts: hostPorts(spec),
    images: images.filter((image) => image !== undefined && image !== "").map((image) => withTag(image ?? "")),
    containers: containers.length,
    nodeName: null,
    nodeSelector: spec.nodeSelector ?? {},
    requiredNodes: nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? null,
    preferredNodes: (nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ weight = 0, preference = {} }) => ({ weight, term: preference }),
    ),
    tolerations: spec.tolerations ?? [],
    affinity: affinityFacts(spec.affinity?.podAffinity, namespace),
    antiAffinity: affinityFacts(spec.affinity?.podAntiAffinity, namespace),
    spread: (spec.topologySpreadConstraints ?? []).map((constraint) => spreadConstraint(constraint, labels)),
    ownerSelector: lookups.ownerSelector,
    volumes,
    canPreempt: spec.preemptionPolicy !== "Never",
    unmodelled: unmodelled(spec, requests) ?? fault,
  });
}

function unmodelled(spec: PodSpecJson, requests: Amounts): UnmodelledReason | null {
  if ((spec.schedulerName ?? "default-scheduler") !== "default-scheduler") return "OtherScheduler";
  if ((spec.schedulingGates ?? []).length > 0) return "SchedulingGates";
  if ((spec.resourceClaims ?? []).length > 0) return "ResourceClaims";
  return Object.values(requests).some(Number.isNaN) ? "UnknownQuantity" : null;
}

/** Init containers give up their ports before the others start, so only sidecars among them count. */
function hostPorts({ containers = [], initContainers = [] }: PodSpecJson): PodShape["hostPorts"] {
  const lasting = [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === "Always")];
  return lasting
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ hostIP = "", protocol = "TCP", hostPort: port = 0 }) => ({
      address: hostIP === "" ? "0.0.0.0" : hostIP,
      protocol,
      port,
    }));
}

/** The name under which a container runtime lists the image. */
function withTag(image: string): string {
  return image.lastIndexOf(":") <= image.lastIndexOf("/") ? `${image}:latest` : image;
}

function affinityFacts(affinity: PodAffinityJson | undefined, namespace: string): PodAffinityFacts {
  return {
    required: (affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) =>
      affinityTerm(term, namespace),
    ),
    preferred: (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ weight = 0, podAffinityTerm = {} }) => ({ weight, term: affinityTerm(podAffinityTerm, namespace) }),
    ),
  };
}

function affinityTerm(term: PodAffinityTermJson, namespace: string): PodAffinityTerm {
  const { topologyKey = "", labelSelector = null, namespaces = [], namespaceSelector = null } = term;
  const own = namespaces.length === 0 && namespaceSelector === null;
  return {
    topologyKey,
    selector: labelSelector,
    namespaces: { names: own ? [namespace] : namespaces.toSorted(), selector: namespaceSelector },
  };
}

function spreadConstraint(constraint: SpreadConstraintJson, labels: Labels): SpreadConstraint {
  const { topologyKey = "", maxSkew = 1, labelSelector = null, matchLabelKeys = [], minDomains = 1 } = constraint;
  const shared = matchLabelKeys.filter((key) => Object.hasOwn(labels, key));
  const expressions = shared.map((key) => ({ key, operator: "In", values: [labels[key] ?? ""] }));
  return {
    topologyKey,
    maxSkew,
    whenUnsatisfiable: constraint.whenUnsatisfiable === "ScheduleAnyway" ? "ScheduleAnyway" : "DoNotSchedule",
    selector:
      labelSelector === null || expressions.length === 0
        ? labelSelector
        : { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...expressions] },
    minDomains,
    honorAffinity: constraint.nodeAffinityPolicy !== "Ignore",
    honorTaints: constraint.nodeTaintsPolicy === "Honor",
  };
}

/** Volumes of a cloud or a storage network that pods name directly; the scheduler keeps some of them apart. */
function isDirect({ gcePersistentDisk, awsElasticBlockStore, azureDisk, iscsi, rbd }: VolumeJson): boolean {
  return [gcePersistentDisk, awsElasticBlockStore, azureDisk, iscsi, rbd].some((source) => source !== undefined);
}

function volumeFacts(
  volumes: readonly VolumeJson[],
  namespace: string,
  pod: string,
  lookups: PodLookups,
): { volumes: readonly VolumeFacts[]; fault: UnmodelledReason | null } {
  const facts: VolumeFacts[] = [];
  for (const volume of volumes) {
    if (isDirect(volume)) return { volumes: facts, fault: "UnknownVolume" };
    const claimName =
      volume.ephemeral === undefined ? volume.persistentVolumeClaim?.claimName : `${pod}-${volume.name}`;
    if (claimName === undefined) continue;
    const claim = lookups.claim(namespace, claimName);
    const volumeName = claim?.spec?.volumeName ?? "";
    if (claim === undefined || volumeName === "") return { volumes: facts, fault: "UnboundClaim" };
    const bound = lookups.volume(volumeName);
    if (bound === undefined) return { volumes: facts, fault: "UnknownVolume" };
    facts.push(volumeOf(claim, bound, `${namespace}/${claimName}`));
  }
  return { volumes: facts, fault: null };
}

function volumeOf(claim: ClaimJson, { metadata, spec }: PersistentVolumeJson, claimName: string): VolumeFacts {
  const zones = Object.entries(metadata?.labels ?? {}).filter(([key]) => ZONE_LABELS.includes(key));
  const csi = spec?.csi;
  return {
    name: csi?.volumeHandle === undefined ? claimName : `${csi.driver}/${csi.volumeHandle}`,
    nodeAffinity: spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [],
    zones: Object.fromEntries(zones),
    csiDriver: csi?.driver ?? null,
    onePod: claim.spec?.accessModes?.includes("ReadWriteOncePod") ?? false,
  };
}
