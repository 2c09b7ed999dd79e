import { describe, expect, test } from "@jest/globals";
import type { KubeObject } from "@evenkeel/kube";
import { NONE, POD, type PlanSnapshot, UNKNOWN } from "../../decide/snapshot.ts";
import { FIXTURE_TIME, fixtureCluster } from "../../testing/fixture-cluster.ts";
import { defaultPolicy } from "../default-policy.ts";
import { CollectedObjects } from "../cluster/collected-objects.ts";
import { snapshotOf } from "./snapshot-of.ts";

type Change = (object: KubeObject) => KubeObject | undefined;

/** Merges into the objects of a kind and name; `undefined` for a value removes the object. */
const change =
  (kind: string, name: string, with_: object | undefined): Change =>
  (object) => {
    if (object.kind !== kind || object.metadata.name !== name) return object;
    return with_ && (merged(object, with_) as KubeObject);
  };

function merged(old: unknown, more: unknown): unknown {
  if (typeof old !== "object" || typeof more !== "object" || Array.isArray(more) || old === null || more === null)
    return more;
  const fields = Object.entries(more).map(([key, value]) => [
    key,
    merged((old as Record<string, unknown>)[key], value),
  ]);
  return { ...old, ...(Object.fromEntries(fields) as object) };
}

async function snapshotWith(...changes: readonly Change[]): Promise<PlanSnapshot> {
  const collected = new CollectedObjects();
  const { objects, metrics } = fixtureCluster();
  for (const object of [...objects, ...metrics]) {
    const changed = changes.reduce<KubeObject | undefined>((one, apply) => one && apply(one), object);
    if (changed !== undefined) collected.add(changed);
  }
  const at = Date.parse(FIXTURE_TIME);
  const rest = { policy: defaultPolicy(), budget: 10, at, memory: null, emptyDirLimit: 2 ** 31 };
  return snapshotOf(collected.objects, collected.usage, rest);
}

function podOf({ cluster: { pods, nodes, owners, shapes } }: PlanSnapshot, name: string) {
  const row = pods.name.indexOf(name);
  const at = <T>(column: ArrayLike<T>): T => column[row] as T;
  return {
    ...{ node: nodes[at(pods.node)]?.name, owner: owners[at(pods.owner)], shape: shapes[at(pods.shape)] },
    ...{ priority: at(pods.priority), startedAt: at(pods.startedAt), readySince: at(pods.readySince) },
    ...{ cpu: at(pods.cpuUsage), memory: at(pods.memoryUsage), emptyDirBytes: at(pods.emptyDirBytes) },
    ...{ deletionCost: at(pods.deletionCost), flags: at(pods.flags), workloadKind: at(pods.workloadKind) },
  };
}

describe("a snapshot of the fixture", () => {
  test("has a row for each node, pod and owner, and one shape for replicas", async () => {
    const { cluster } = await snapshotWith();
    expect(cluster.nodes.map(({ name }) => name)).toEqual(["a", "b", "c", "d", "e", "f"]);
    expect(cluster.pods.uid).toHaveLength(22);
    expect(cluster.owners.map(({ workload }) => `${workload.kind}/${workload.name}`).sort()).toEqual([
      ...["DaemonSet/agent", "Deployment/cache", "Deployment/checkout", "Deployment/web", "Job/report"],
      "StatefulSet/db",
    ]);
    // Pods of StatefulSets have labels and volumes of their own.
    expect(cluster.shapes).toHaveLength(7);
    expect(Object.keys(cluster.namespaces).sort()).toEqual(["batch", "data", "kube-system", "shop"]);
  });

  test("describes a pod of a Deployment", async () => {
    const { node, owner, shape, ...rest } = podOf(await snapshotWith(), "web-1-0");
    expect(node).toBe("a");
    expect(owner).toMatchObject({ kind: "ReplicaSet", name: "web-1", replicas: 8, rollout: "steady" });
    expect(owner?.workload).toMatchObject({ kind: "Deployment", name: "web" });
    expect(shape).toMatchObject({ namespace: "shop", requests: { cpu: 400, memory: 2 ** 30 }, unmodelled: null });
    expect(shape?.ownerSelector).toEqual({ matchLabels: { app: "web" } });
    expect(rest).toEqual({
      ...{ priority: 0, cpu: 450, memory: 1100 * 2 ** 20, emptyDirBytes: 0, deletionCost: 0, workloadKind: NONE },
      ...{ startedAt: Date.parse("2026-01-31T10:00:00Z"), readySince: Date.parse("2026-01-31T10:01:40Z"), flags: 0 },
    });
  });

  test("knows the zonal volume of a StatefulSet's pod", async () => {
    const { shape, flags } = podOf(await snapshotWith(), "db-0");
    expect(flags).toBe(POD.zonalVolume);
    expect(shape?.volumes).toMatchObject([{ csiDriver: "disk.example.com" }]);
  });

  test("has the usage of nodes", async () => {
    const { cluster } = await snapshotWith();
    expect(cluster.nodes[5]?.usage).toEqual({ cpu: 200, memory: 560 * 2 ** 20 });
    expect(cluster.nodes[5]?.measuredSince).toBe(Date.parse(FIXTURE_TIME) - 25_200);
    expect(cluster.nodes[5]?.available).toBe(true);
  });

  test("keeps the images that pods run", async () => {
    const other = { names: ["registry.example.com/other:1"], sizeBytes: 1 };
    const web = { names: ["registry.example.com/web@sha256:1", "registry.example.com/web:1"], sizeBytes: 5 };
    const { cluster } = await snapshotWith(change("Node", "a", { status: { images: [other, web] } }));
    expect(cluster.nodes[0]?.images).toEqual([{ names: ["registry.example.com/web:1"], sizeBytes: 5 }]);
  });

  test("does not depend on the order of objects for what a pod is", async () => {
    const first = podOf(await snapshotWith(), "db-0");
    const collected = new CollectedObjects();
    const { objects, metrics } = fixtureCluster();
    for (const object of [...objects, ...metrics].toReversed()) collected.add(object);
    const rest = { policy: defaultPolicy(), budget: 10, at: Date.parse(FIXTURE_TIME), memory: null, emptyDirLimit: 0 };
    expect(podOf(await snapshotOf(collected.objects, collected.usage, rest), "db-0")).toEqual(first);
  });
});

describe("usage is unknown", () => {
  const usageOf = async (name: string, ...changes: readonly Change[]) =>
    (await snapshotWith(...changes)).cluster.nodes.find((node) => node.name === name)?.usage;

  test.each([
    ["was not measured", change("NodeMetrics", "a", undefined)],
    ["was measured too long ago", change("NodeMetrics", "a", { timestamp: "2026-01-31T11:54:00Z" })],
    ["has no number for a resource", change("NodeMetrics", "a", { usage: { memory: "?" } })],
    ["has a time that is none", change("NodeMetrics", "a", { timestamp: "yesterday" })],
    ["has a capacity of 0", change("Node", "a", { status: { allocatable: { cpu: "0" } } })],
  ])("of a node that %s", async (_name, changed) => {
    expect(await usageOf("a", changed)).toBeNull();
    expect(await usageOf("b", changed)).not.toBeNull();
  });

  test.each([
    ["was not measured", change("PodMetrics", "db-0", undefined), UNKNOWN, UNKNOWN],
    [
      "was measured too long ago",
      change("PodMetrics", "db-0", { timestamp: "2026-01-31T11:54:00Z" }),
      UNKNOWN,
      UNKNOWN,
    ],
    ["has no containers yet", change("PodMetrics", "db-0", { containers: [] }), UNKNOWN, UNKNOWN],
    [
      "replaced the pod that was measured",
      change("Pod", "db-0", { status: { startTime: "2026-01-31T11:59:40Z" } }),
      ...([UNKNOWN, UNKNOWN] as const),
    ],
    [
      "has no number for one resource",
      change("PodMetrics", "db-0", { containers: [{ name: "main", usage: { cpu: "1" } }] }),
      ...([1000, UNKNOWN] as const),
    ],
  ])("of a pod that %s", async (_name, changed, cpu, memory) => {
    expect(podOf(await snapshotWith(changed), "db-0")).toMatchObject({ cpu, memory });
  });

  test("no longer once the window lies after the start", async () => {
    const started = change("Pod", "db-0", { status: { startTime: "2026-01-31T11:59:34Z" } });
    expect(podOf(await snapshotWith(started), "db-0")).toMatchObject({ cpu: 400 });
  });
});

describe("a pod", () => {
  const annotated = (name: string, value: string) => ({ metadata: { annotations: { [name]: value } } });
  test.each([
    ["pinned", annotated("rebalancer.dev/pinned", "true"), POD.pinned],
    ["not pinned by another value", annotated("rebalancer.dev/pinned", "no"), 0],
    ["not allowed to move", annotated("rebalancer.dev/allow-move", "false"), POD.moveForbidden],
    ["not safe to evict", annotated("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"), POD.safeToEvictFalse],
    ["not to be disrupted", annotated("karpenter.sh/do-not-disrupt", "true"), POD.doNotDisrupt],
    ["a mirror", annotated("kubernetes.io/config.mirror", "x"), POD.mirror],
    ["terminating", { metadata: { deletionTimestamp: FIXTURE_TIME } }, POD.terminating],
    ["pending", { status: { phase: "Pending" } }, POD.pending],
    ["bound to a path of its node", { spec: { volumes: [{ name: "x", hostPath: {} }] } }, POD.hostPath],
  ])("is %s", async (_name, with_, flags) => {
    expect(podOf(await snapshotWith(change("Pod", "web-1-0", with_)), "web-1-0").flags).toBe(flags);
  });

  test("that is not ready has no time of readiness", async () => {
    const unready = { status: { conditions: [{ type: "Ready", status: "False", lastTransitionTime: FIXTURE_TIME }] } };
    expect(podOf(await snapshotWith(change("Pod", "web-1-0", unready)), "web-1-0").readySince).toBe(UNKNOWN);
  });

  test.each([
    [[{ sizeLimit: "1Gi" }, { sizeLimit: "512Mi" }], 1.5 * 2 ** 30],
    [[{ sizeLimit: "1Gi" }, {}], UNKNOWN],
    [[{ sizeLimit: "1Gi" }, { sizeLimit: "0" }], UNKNOWN],
  ])("with emptyDir volumes %j may hold %d bytes", async (dirs, bytes) => {
    const volumes = dirs.map((emptyDir, index) => ({ name: `e${index}`, emptyDir }));
    const pod = podOf(await snapshotWith(change("Pod", "web-1-0", { spec: { volumes } })), "web-1-0");
    expect(pod).toMatchObject({ emptyDirBytes: bytes, flags: POD.emptyDir });
  });

  test("with a cost, a priority and a kind of work has them", async () => {
    const annotations = { "controller.kubernetes.io/pod-deletion-cost": "-7", "rebalancer.dev/workload": "cpu-bound" };
    const snapshot = await snapshotWith(change("Pod", "web-1-0", { metadata: { annotations }, spec: { priority: 5 } }));
    expect(podOf(snapshot, "web-1-0")).toMatchObject({ deletionCost: -7, priority: 5, workloadKind: 0 });
    expect(snapshot.cluster.pods.workloadKinds).toEqual(["cpu-bound"]);
  });

  test("that is being resized counts as the largest of what it wants and has, or what it has if that is not feasible", async () => {
    const containerStatuses = [{ name: "main", resources: { requests: { cpu: "300m", memory: "1Gi" } } }];
    const cpuWith = async (status: object) =>
      podOf(await snapshotWith(change("Pod", "web-1-0", { status })), "web-1-0").shape?.requests["cpu"];
    expect(await cpuWith({ containerStatuses })).toBe(400);
    const conditions = [{ type: "PodResizePending", status: "True", reason: "Infeasible" }];
    expect(await cpuWith({ containerStatuses, conditions })).toBe(300);
  });

  test("that ended is left out", async () => {
    const { cluster } = await snapshotWith(change("Pod", "report-1-0", { status: { phase: "Succeeded" } }));
    expect(cluster.pods.name).not.toContain("report-1-0");
  });

  test("with a claim that is not there cannot be modelled", async () => {
    const { shape, flags } = podOf(await snapshotWith(change("PersistentVolumeClaim", "data-db-0", undefined)), "db-0");
    expect(shape?.unmodelled).toBe("UnboundClaim");
    expect(flags).toBe(POD.otherVolume);
  });

  test("of a StatefulSet with a newer template would be replaced by another", async () => {
    const flagsWith = async (spec: object) =>
      podOf(await snapshotWith(change("StatefulSet", "db", { spec, status: { updateRevision: "r2" } })), "db-0").flags;
    expect((await flagsWith({ updateStrategy: { type: "OnDelete" } })) & POD.otherRevision).not.toBe(0);
    const rolling = (partition: number) => ({
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition } },
    });
    expect((await flagsWith(rolling(0))) & POD.otherRevision).not.toBe(0);
    expect((await flagsWith(rolling(1))) & POD.otherRevision).toBe(0);
  });
});

describe("the rollout", () => {
  const rolloutOf = async (pod: string, ...changes: readonly Change[]) =>
    podOf(await snapshotWith(...changes), pod).owner?.rollout;
  const progressing = (reason: string) => ({
    status: { conditions: [{ type: "Progressing", status: "True", reason }] },
  });

  test.each([
    ["of a Deployment that its controller has not seen", { metadata: { generation: 2 } }, "underWay"],
    ["of a Deployment that is paused", { spec: { paused: true } }, "paused"],
    ["of a Deployment with old pods", { status: { replicas: 9 } }, "underWay"],
    ["of a Deployment that progresses", progressing("ReplicaSetUpdated"), "underWay"],
    ["of a Deployment that has progressed", progressing("NewReplicaSetAvailable"), "steady"],
    ["of a Deployment that is not there", undefined, "unknown"],
  ])("%s", async (_name, with_, rollout) => {
    expect(await rolloutOf("web-1-0", change("Deployment", "web", with_))).toBe(rollout);
  });

  test("of a ReplicaSet that is not there is unknown, and so are its replicas", async () => {
    const { owner } = podOf(await snapshotWith(change("ReplicaSet", "web-1", undefined)), "web-1-0");
    expect(owner).toMatchObject({ replicas: null, rollout: "unknown", workload: { kind: "ReplicaSet" } });
  });

  test.each([
    ["an update", { status: { updateRevision: "r2", updatedReplicas: 1 } }, "underWay"],
    ["an update of every pod", { status: { updateRevision: "r2", updatedReplicas: 2 } }, "steady"],
    [
      "an update up to its partition",
      {
        spec: { updateStrategy: { rollingUpdate: { partition: 1 } } },
        status: { updateRevision: "r2", updatedReplicas: 1 },
      },
      "steady",
    ],
  ])("of a StatefulSet with %s", async (_name, with_, rollout) => {
    expect(await rolloutOf("db-0", change("StatefulSet", "db", with_))).toBe(rollout);
  });
});

describe("a node is not available", () => {
  test.each([
    ["that is not ready", { status: { conditions: [{ type: "Ready", status: "Unknown" }] } }],
    ["that is being deleted", { metadata: { deletionTimestamp: FIXTURE_TIME } }],
    ["that an autoscaler removes", { spec: { taints: [{ key: "karpenter.sh/disrupted", effect: "NoSchedule" }] } }],
  ])("%s", async (_name, with_) => {
    expect((await snapshotWith(change("Node", "a", with_))).cluster.nodes[0]?.available).toBe(false);
  });
});

describe("a PodDisruptionBudget", () => {
  const rowWith = async (with_: object) =>
    (await snapshotWith(change("PodDisruptionBudget", "checkout", with_))).cluster.disruptionBudgets[0];

  test("has what the eviction API looks at", async () => {
    expect(await rowWith({})).toEqual({
      ...{ namespace: "shop", name: "checkout", selector: { matchLabels: { app: "checkout" } }, isCurrent: true },
      ...{ disruptionsAllowed: 0, currentHealthy: 3, desiredHealthy: 3, alwaysAllowUnhealthy: false },
    });
    expect(await rowWith({ spec: { unhealthyPodEvictionPolicy: "AlwaysAllow" } })).toMatchObject({
      alwaysAllowUnhealthy: true,
    });
  });

  test("is not current before its controller has seen it, or if that failed", async () => {
    expect(await rowWith({ metadata: { generation: 2 } })).toMatchObject({ isCurrent: false });
    const conditions = [{ type: "DisruptionAllowed", status: "False", reason: "SyncFailed" }];
    expect(await rowWith({ status: { conditions } })).toMatchObject({ isCurrent: false });
  });
});

test("a workload whose only pod was evicted has a row while the eviction is in flight and the workload exists", async () => {
  const collected = new CollectedObjects();
  const controller = { apiVersion: "apps/v1", kind: "Deployment", name: "press", uid: "deploy", controller: true };
  const of = (kind: string, name: string, uid: string, own: object = {}) =>
    ({
      apiVersion: "apps/v1",
      kind,
      metadata: { namespace: "shop", name, uid, ...own },
      spec: { replicas: 1 },
    }) as KubeObject;
  collected.add(of("Deployment", "press", "deploy"));
  collected.add(of("ReplicaSet", "press-1", "rs", { ownerReferences: [controller] }));
  collected.add(of("StatefulSet", "store", "set"));
  const rest = { policy: defaultPolicy(), budget: 10, at: 0, memory: null, emptyDirLimit: 0 };
  const inFlight = [
    { namespace: "shop", owner: "rs", workload: "deploy" },
    { namespace: "shop", owner: "older-rs", workload: "deploy" },
    { namespace: "shop", owner: "set", workload: "set" },
    { namespace: "shop", owner: "gone", workload: "gone" },
  ];
  const { cluster } = await snapshotOf(collected.objects, collected.usage, { ...rest, inFlight });
  expect(cluster.owners.map(({ uid, workload, replicas }) => [uid, workload.uid, replicas])).toEqual([
    ["rs", "deploy", 1],
    ["older-rs", "deploy", 1],
    ["set", "set", 1],
  ]);
});

test("a WorkloadSLO that cannot be read forbids evictions, and a NodeClass is left out", async () => {
  const collected = new CollectedObjects();
  const apiVersion = "rebalancer.dev/v1";
  const slo = (name: string, spec: object) => ({
    apiVersion,
    kind: "WorkloadSLO",
    metadata: { namespace: "shop", name },
    spec,
  });
  collected.add(slo("good", { minReadySeconds: 5 }));
  collected.add(slo("bad", { minReadySeconds: "soon" }));
  collected.add({ apiVersion, kind: "NodeClass", metadata: { name: "bad" }, spec: { weight: "much" } } as KubeObject);
  const rest = { policy: defaultPolicy(), budget: 10, at: 0, memory: null, emptyDirLimit: 0 };
  const { cluster } = await snapshotOf(collected.objects, collected.usage, rest);
  expect(cluster.slos).toEqual([
    { namespace: "shop", name: "good", spec: { minReadySeconds: 5 } },
    { namespace: "shop", name: "bad", spec: { maxDisruptionsPerHour: 0 } },
  ]);
  expect(cluster.nodeClasses).toEqual([]);
});
