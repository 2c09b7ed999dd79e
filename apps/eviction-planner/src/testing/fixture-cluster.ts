import type { KubeObject } from "@evenkeel/kube";

/** The time of the fixture. */
export const FIXTURE_TIME = "2026-01-31T12:00:00Z";

type Json = Readonly<Record<string, unknown>>;

interface Workload {
  readonly namespace: string;
  readonly name: string;
  readonly kind: "Deployment" | "StatefulSet" | "DaemonSet" | "Job";
  readonly cpu: string;
  readonly memory: string;
  /** What each pod uses: milli-CPU and MiB. */
  readonly uses: readonly [number, number];
  /** The node of each pod. */
  readonly on: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
}

const NODES = ["a", "b", "c", "d", "e", "f"] as const;

/** node a is hot, c to f are cold. */
const WORKLOADS: readonly Workload[] = [
  {
    ...{ namespace: "shop", name: "web", kind: "Deployment", cpu: "400m", memory: "1Gi" },
    ...{ uses: [450, 1100], on: ["a", "a", "a", "a", "a", "b", "b", "b"] },
  },
  {
    ...{ namespace: "shop", name: "checkout", kind: "Deployment", cpu: "300m", memory: "2Gi" },
    ...{ uses: [300, 2300], on: ["a", "a", "b"] },
  },
  {
    ...{ namespace: "shop", name: "cache", kind: "Deployment", cpu: "200m", memory: "1Gi" },
    ...{ uses: [200, 900], on: ["a", "c"], annotations: { "rebalancer.dev/pinned": "true" } },
  },
  {
    ...{ namespace: "data", name: "db", kind: "StatefulSet", cpu: "500m", memory: "2Gi" },
    ...{ uses: [400, 1800], on: ["a", "d"] },
  },
  {
    ...{ namespace: "kube-system", name: "agent", kind: "DaemonSet", cpu: "100m", memory: "64Mi" },
    ...{ uses: [50, 60], on: NODES },
  },
  {
    ...{ namespace: "batch", name: "report", kind: "Job", cpu: "100m", memory: "128Mi" },
    ...{ uses: [100, 100], on: ["e"] },
  },
];

/** What kubelets and systems use of each node. */
const SYSTEM = [150, 500] as const;

const zoneOf = (node: string): string => `zone-${NODES.indexOf(node as "a") % 3}`;

const at = (seconds: number): string =>
  new Date(Date.parse(FIXTURE_TIME) + seconds * 1000).toISOString().replace(".000", "");

const object = (apiVersion: string, kind: string, metadata: Json, rest: Json): KubeObject => ({
  apiVersion,
  kind,
  metadata: { uid: `uid-${kind}-${String(metadata["name"])}`, ...metadata },
  ...rest,
});

/** Six nodes and their pods, as `kubectl get … -A -o json` and `kubectl get --raw` list them. */
export function fixtureCluster(): { readonly objects: readonly KubeObject[]; readonly metrics: readonly KubeObject[] } {
  const namespaces = [...new Set(WORKLOADS.map(({ namespace }) => namespace))];
  return {
    objects: [
      ...NODES.map(nodeOf),
      ...namespaces.map((name) =>
        object("v1", "Namespace", { name, labels: { "kubernetes.io/metadata.name": name } }, {}),
      ),
      ...WORKLOADS.flatMap((workload) => [
        ...ownersOf(workload),
        ...workload.on.map((node, index) => podOf(workload, node, index)),
      ]),
      ...NODES.filter((node) => node === "a" || node === "d").flatMap((node, index) => volumeOf(node, index)),
      budgetOf("checkout", 3),
    ],
    metrics: [
      ...NODES.map(nodeMetricsOf),
      ...WORKLOADS.flatMap((one) => one.on.map((_, index) => podMetricsOf(one, index))),
    ],
  };
}

function nodeOf(name: string): KubeObject {
  const labels = { "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zoneOf(name) };
  const size = { cpu: "4", memory: "16Gi", pods: "110", "ephemeral-storage": "100Gi" };
  return object(
    "v1",
    "Node",
    { name, labels },
    {
      spec: {},
      status: {
        ...{
          allocatable: size,
          capacity: size,
          conditions: [{ type: "Ready", status: "True", lastTransitionTime: at(-9000) }],
        },
        images: [{ names: ["registry.example.com/web:1"], sizeBytes: 50_000_000 }],
      },
    },
  );
}

function ownersOf({ namespace, name, kind, on }: Workload): readonly KubeObject[] {
  const selector = { matchLabels: { app: name } };
  const status = { observedGeneration: 1, replicas: on.length, updatedReplicas: on.length, readyReplicas: on.length };
  const metadata = { namespace, name, generation: 1 };
  const workload = object(kind === "Job" ? "batch/v1" : "apps/v1", kind, metadata, {
    spec: { replicas: on.length, selector },
    status: { ...status, ...(kind === "StatefulSet" && { currentRevision: "r1", updateRevision: "r1" }) },
  });
  if (kind !== "Deployment") return [workload];
  const owner = { apiVersion: "apps/v1", kind, name, uid: workload.metadata.uid, controller: true };
  const set = { namespace, name: `${name}-1`, generation: 1, ownerReferences: [owner] };
  return [workload, object("apps/v1", "ReplicaSet", set, { spec: { replicas: on.length, selector }, status })];
}

const podName = ({ name, kind }: Workload, index: number): string =>
  kind === "StatefulSet" ? `${name}-${index}` : `${name}-1-${index}`;

function podOf(workload: Workload, node: string, index: number): KubeObject {
  const { namespace, name, kind, cpu, memory, annotations } = workload;
  const owner = kind === "Deployment" ? { kind: "ReplicaSet", name: `${name}-1` } : { kind, name };
  const labels = {
    app: name,
    ...(kind === "StatefulSet" && {
      "controller-revision-hash": "r1",
      "statefulset.kubernetes.io/pod-name": `${name}-${index}`,
    }),
  };
  const controller = { apiVersion: "apps/v1", ...owner, uid: `uid-${owner.kind}-${owner.name}`, controller: true };
  const metadata = {
    namespace,
    name: podName(workload, index),
    labels,
    ownerReferences: [controller],
    ...(annotations && { annotations }),
  };
  const token = { name: `kube-api-access-${index}`, projected: { sources: [] } };
  const claim = { name: "data", persistentVolumeClaim: { claimName: `data-${name}-${index}` } };
  return object("v1", "Pod", metadata, {
    spec: {
      containers: [{ name: "main", image: "registry.example.com/web:1", resources: { requests: { cpu, memory } } }],
      ...{ nodeName: node, priority: kind === "DaemonSet" ? 2_000_001_000 : 0, schedulerName: "default-scheduler" },
      volumes: kind === "StatefulSet" ? [claim, token] : [token],
    },
    status: {
      ...{ phase: "Running", startTime: at(-7200) },
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: at(-7100) }],
    },
  });
}

function volumeOf(node: string, index: number): readonly KubeObject[] {
  const zone = { key: "topology.kubernetes.io/zone", operator: "In", values: [zoneOf(node)] };
  const claim = { volumeName: `pv-${index}`, accessModes: ["ReadWriteOnce"] };
  return [
    object("v1", "PersistentVolumeClaim", { namespace: "data", name: `data-db-${index}` }, { spec: claim }),
    object(
      "v1",
      "PersistentVolume",
      { name: `pv-${index}` },
      {
        spec: {
          csi: { driver: "disk.example.com", volumeHandle: `disk-${index}` },
          nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [zone] }] } },
        },
      },
    ),
  ];
}

function budgetOf(name: string, healthy: number): KubeObject {
  return object(
    "policy/v1",
    "PodDisruptionBudget",
    { namespace: "shop", name, generation: 1 },
    {
      spec: { minAvailable: healthy, selector: { matchLabels: { app: name } } },
      status: {
        observedGeneration: 1,
        disruptionsAllowed: 0,
        currentHealthy: healthy,
        desiredHealthy: healthy,
        expectedPods: healthy,
      },
    },
  );
}

const usage = (milli: number, mebibytes: number): Json => ({
  cpu: `${milli * 1_000_000}n`,
  memory: `${mebibytes * 1024}Ki`,
});

function nodeMetricsOf(name: string): KubeObject {
  const used = WORKLOADS.flatMap(({ uses, on }) => on.filter((node) => node === name).map(() => uses));
  const [cpu, memory] = used.reduce(
    ([cpus, bytes], [more, moreBytes]) => [cpus + more, bytes + moreBytes] as const,
    SYSTEM,
  );
  return measured("NodeMetrics", { name }, { usage: usage(cpu, memory) });
}

function podMetricsOf(workload: Workload, index: number): KubeObject {
  const metadata = { namespace: workload.namespace, name: podName(workload, index) };
  return measured("PodMetrics", metadata, { containers: [{ name: "main", usage: usage(...workload.uses) }] });
}

function measured(kind: string, metadata: Json, rest: Json): KubeObject {
  return {
    apiVersion: "metrics.k8s.io/v1beta1",
    kind,
    metadata,
    timestamp: at(-10),
    window: "15.2s",
    ...rest,
  } as KubeObject;
}
