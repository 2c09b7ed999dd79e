import { type Matcher, matcherOf } from "@evenkeel/placement";
import { type Hold, hold, type Obstacle } from "./obstacles.ts";
import { isSurged, type SingleReplicaRule, singleReplicaRule } from "./single-replica.ts";
import { NONE, type OwnerRow, type PlanSnapshot, POD, type Selecting, UNKNOWN } from "./snapshot.ts";
import type { Basis, Utilisation } from "./utilisation.ts";

/** Pods from this priority on are system components; people cannot give it to their own classes. */
const CRITICAL_PRIORITY = 2_000_000_000;
/** Milliseconds until usage over a window says something about a pod. */
const SETTLING_TIME = 2 * 60_000;

/** Holds that no order of moves changes: what a pod is, and what is asked for it. */
export class Eligibility {
  readonly #snapshot: PlanSnapshot;
  readonly #utilisation: Utilisation;
  readonly #guards: ReadonlyMap<string, Guard>;
  /** By shape. */
  readonly #shapeHolds: readonly (readonly Hold[])[];

  constructor(snapshot: PlanSnapshot, utilisation: Utilisation) {
    this.#snapshot = snapshot;
    this.#utilisation = utilisation;
    this.#guards = guardsOf(snapshot);
    const isSelected = selection(snapshot.policy);
    const earlier = (snapshot.earlier ?? []).map((policy) => ({ name: policy.name, selects: selection(policy) }));
    const takenBy = (namespace: string, labels: Parameters<Matcher>[0]): readonly Hold[] => {
      const first = earlier.find(({ selects }) => selects(namespace, labels));
      return first === undefined ? [] : [hold("OtherPolicy", first.name)];
    };
    this.#shapeHolds = snapshot.cluster.shapes.map(({ namespace, labels, unmodelled }) => [
      ...(isSelected(namespace, labels) ? takenBy(namespace, labels) : [hold("NotSelected")]),
      ...(this.#guards.get(namespace)?.protectors ?? []).flatMap(({ slo, key, value }) =>
        Object.hasOwn(labels, key) && labels[key] === value ? [hold("ProtectedLabel", slo)] : [],
      ),
      ...(unmodelled === null ? [] : [hold("Unmodelled", unmodelled)]),
    ]);
  }

  /** Everything that holds a pod where it is, the weightiest first; empty if it may be moved. */
  holds(pod: number): readonly Hold[] {
    const { pods, shapes, owners } = this.#snapshot.cluster;
    const shape = pods.shape[pod] as number;
    const owner = owners[pods.owner[pod] as number];
    const guard = this.#guards.get(shapes[shape]?.namespace ?? "") ?? NO_GUARD;
    const holds: Hold[] = [];
    this.#addNature(holds, pod, owner);
    for (const hold of this.#shapeHolds[shape] ?? []) holds.push(hold);
    if (pods.flags[pod] !== 0) this.#addChoices(holds, pod);
    if (owner?.kind === "StatefulSet" && !guard.allowsStatefulSets) holds.push(hold("StatefulSet", guard.forbidder));
    if (owner?.replicas === 1 && guard.single.how !== "evict" && !isSurged(owner, this.#snapshot.cluster.slos)) {
      holds.push(hold("SingleReplica", guard.single.by));
    }
    this.#addState(holds, pod, owner, guard);
    const node = pods.node[pod] as number;
    if (this.#utilisation.slotOf[node] === NONE) holds.push(hold("NodeUnknown"));
    else if (Number.isNaN(this.#utilisation.sizeOn(pod, node))) holds.push(hold("UsageUnknown"));
    return holds;
  }

  #addNature(holds: Hold[], pod: number, owner: OwnerRow | undefined): void {
    const { pods } = this.#snapshot.cluster;
    if ((pods.priority[pod] as number) >= CRITICAL_PRIORITY) holds.push(hold("Critical"));
    if (((pods.flags[pod] as number) & POD.mirror) !== 0) holds.push(hold("Mirror"));
    else if (owner === undefined) holds.push(hold("Ownerless"));
    else if (owner.kind === "DaemonSet" || owner.kind === "Job") holds.push(hold(owner.kind));
  }

  #addChoices(holds: Hold[], pod: number): void {
    const { cluster, emptyDirLimit } = this.#snapshot;
    const flags = cluster.pods.flags[pod] as number;
    for (const [flag, code] of CHOICES) if ((flags & flag) !== 0) holds.push(hold(code));
    const bytes = cluster.pods.emptyDirBytes[pod] as number;
    if ((flags & POD.emptyDir) !== 0 && (bytes === UNKNOWN || bytes > emptyDirLimit)) holds.push(hold("EmptyDir"));
  }

  #addState(holds: Hold[], pod: number, owner: OwnerRow | undefined, guard: Guard): void {
    const { cluster, at, policy } = this.#snapshot;
    const { pods } = cluster;
    const flags = pods.flags[pod] as number;
    const readySince = pods.readySince[pod] as number;
    if ((flags & POD.terminating) !== 0) holds.push(hold("Terminating"));
    else if ((flags & POD.pending) !== 0 || pods.node[pod] === NONE) holds.push(hold("Pending"));
    else if (readySince === UNKNOWN) holds.push(hold("NotReady"));
    else if (isYoung(pods.startedAt[pod] as number, at, policy.spec.basis)) holds.push(hold("Young"));
    if (at - readySince < (owner?.minReadySeconds ?? 0) * 1000) holds.push(hold("MinReadySeconds"));
    if (at - readySince < guard.minReadySeconds * 1000) holds.push(hold("MinReadySeconds", guard.slowest));
    if (owner !== undefined && owner.rollout !== "steady") holds.push(hold("RolloutUnderWay"));
    if ((flags & POD.otherRevision) !== 0) holds.push(hold("OtherRevision"));
  }
}

/** What an annotation or a volume says by itself. */
const CHOICES: readonly (readonly [flag: number, code: Obstacle])[] = [
  [POD.pinned, "Pinned"],
  [POD.moveForbidden, "MoveForbidden"],
  [POD.safeToEvictFalse, "SafeToEvictFalse"],
  [POD.doNotDisrupt, "DoNotDisrupt"],
  [POD.hostPath, "HostPath"],
  [POD.localVolume, "LocalVolume"],
];

function isYoung(startedAt: number, at: number, basis: Basis): boolean {
  return basis === "usage" && (startedAt === UNKNOWN || at - startedAt < SETTLING_TIME);
}

/** What all WorkloadSLOs of a namespace ask for together: the strictest of each. `slo` and the like are their names. */
interface Guard {
  readonly minReadySeconds: number;
  readonly slowest: string | null;
  readonly allowsStatefulSets: boolean;
  readonly forbidder: string | null;
  readonly single: SingleReplicaRule;
  readonly protectors: readonly { readonly slo: string; readonly key: string; readonly value: string }[];
}

const NO_GUARD: Guard = {
  minReadySeconds: 0,
  slowest: null,
  allowsStatefulSets: false,
  forbidder: null,
  single: { how: "evict", by: null },
  protectors: [],
};

function guardsOf({ cluster }: PlanSnapshot): ReadonlyMap<string, Guard> {
  const byNamespace = Map.groupBy(cluster.slos, ({ namespace }) => namespace);
  return new Map(
    [...byNamespace].map(([namespace, slos]) => {
      const minReadySeconds = Math.max(...slos.map(({ spec }) => spec.minReadySeconds ?? 0));
      const slowest = slos.find(({ spec }) => (spec.minReadySeconds ?? 0) === minReadySeconds);
      const forbidder = slos.find(({ spec }) => spec.allowStatefulSetEviction === false);
      const consents = slos.some(({ spec }) => spec.allowStatefulSetEviction === true);
      const nameOf = (slo: { readonly name: string } | undefined) =>
        slo === undefined ? null : `${namespace}/${slo.name}`;
      const guard: Guard = {
        minReadySeconds,
        slowest: nameOf(slowest),
        allowsStatefulSets: consents && forbidder === undefined,
        forbidder: nameOf(forbidder),
        single: singleReplicaRule(slos, namespace),
        protectors: slos.flatMap(({ name, spec }) =>
          Object.entries(spec.protectedLabels ?? {}).map(([key, value]) => ({
            slo: `${namespace}/${name}`,
            key,
            value,
          })),
        ),
      };
      return [namespace, guard];
    }),
  );
}

/** Whether the policy selects pods of a namespace with some labels. A selector with a fault selects nothing. */
function selection({ spec }: Selecting): (namespace: string, labels: Parameters<Matcher>[0]) => boolean {
  const { namespaces = {}, workloadSelectors = [] } = spec;
  const included = new Set(namespaces.include);
  const excluded = new Set(namespaces.exclude);
  const matchers = workloadSelectors.map(matcherOf);
  return (namespace, labels) => {
    if (excluded.has(namespace) || excluded.has("*")) return false;
    if (included.size > 0 && !included.has("*") && !included.has(namespace)) return false;
    return matchers.length === 0 || matchers.some((matches) => matches(labels));
  };
}
