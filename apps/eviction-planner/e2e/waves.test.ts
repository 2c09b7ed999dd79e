import { randomUUID } from "node:crypto";
import { apply, kubectl, list, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { eventually } from "@evenkeel/runtime/testing";
import type { ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { budget, evictedBy, PlannerOnCluster, workload } from "./planner-on-cluster.ts";

// The tests of this file are the life of one cluster, in order: each goes on from where the one before left off.

/** Each node and each workload gives one pod at a time: so many of them make the waves large, and few. */
const OLD_NODES = 44;
const NODES = 130;
const SHAPE = { cpu: "8", memory: "32Gi" };
const WORKLOADS = 44;
const REPLICAS = 8;
const HOUR = 200;

let planner: PlannerOnCluster;
let service: ServiceProcess;

// Before the cluster's own hook: kube-apiserver would wait for the watches of the service to end.
afterAll(async () => service[Symbol.asyncDispose]());

const cluster = useCluster({ name: "waves", nodes: { count: OLD_NODES, ...SHAPE }, audit: true });

const nameOf = (index: number) => `berth-${String(index).padStart(2, "0")}`;

/** Forty budgets. The first workload has two, which no eviction passes; the last five have none. */
function fortyBudgets(): readonly object[] {
  const rules = [
    { maxUnavailable: 1 },
    { minAvailable: REPLICAS - 2 },
    { maxUnavailable: "20%" },
    { minAvailable: "85%" },
  ];
  const policies = ["AlwaysAllow", "IfHealthyBudget", undefined];
  const budgets = Array.from({ length: 39 }, (_, index) => {
    const name = nameOf(index);
    const rule = name === NO_ROOM ? { minAvailable: REPLICAS } : (rules[index % rules.length] ?? {});
    const unhealthyPodEvictionPolicy = policies[index % policies.length];
    return budget(
      "default",
      name,
      { app: name },
      { ...rule, ...(unhealthyPodEvictionPolicy && { unhealthyPodEvictionPolicy }) },
    );
  });
  return [...budgets, budget("default", "overlap", { app: OVERLAPPED }, { maxUnavailable: 5 })];
}

const OVERLAPPED = nameOf(0);
const NO_ROOM = nameOf(1);
/** Its budget's `maxUnavailable` cannot be computed, because a pod has a controller of an unknown kind. */
const SYNC_FAILED = nameOf(4);
const STALE = nameOf(8);
const NEVER = [OVERLAPPED, NO_ROOM, SYNC_FAILED];

function strangePod(): object {
  const owner = { apiVersion: "example.com/v1", kind: "Press", name: "strange", uid: randomUUID(), controller: true };
  return {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: { name: "strange", namespace: "default", labels: { app: SYNC_FAILED }, ownerReferences: [owner] },
    spec: { containers: [{ name: "main", image: "example.invalid/none" }] },
  };
}

beforeAll(async () => {
  planner = await PlannerOnCluster.prepare(cluster());
  const workloads = Array.from({ length: WORKLOADS }, (_, index) => {
    return workload("default", nameOf(index), { replicas: REPLICAS, cpu: "600m" });
  });
  await apply(cluster(), ...workloads, ...fortyBudgets(), strangePod());
  await planner.untilAll("Available", "deployments");
  await planner.addNodes(OLD_NODES, NODES, SHAPE);
  await planner.slo("default", { maxDisruptionsPerHour: HOUR });
  await eventually(async () => {
    const budgets = await list<{ status?: { conditions?: { type: string; reason: string }[] } }>(cluster(), "pdb");
    expect(budgets).toHaveLength(40);
    const failed = budgets.filter(({ status }) => status?.conditions?.some(({ reason }) => reason === "SyncFailed"));
    expect(failed.map(({ metadata }) => metadata.name)).toEqual([SYNC_FAILED]);
  }, 30_000);
}, TEST_TIMEOUT_MS * 2);

test(
  "a budget whose status is older than its spec holds its pods until the controller has followed",
  async () => {
    // Only its pods may move, so a plan of any length would be for them.
    cluster().pause("kube-controller-manager");
    await kubectl(cluster(), ["patch", "pdb", STALE, "--type=merge", "-p", '{"spec":{"maxUnavailable":3}}']);
    service = planner.serve("--state=sqlite::memory:");
    const selecting = { workloadSelectors: [{ matchLabels: { app: STALE } }] };
    await planner.policy("berths", { ...selecting, targetSigma: 0.001 });
    await eventually(async () => expect(await planner.reason("berths")).toBe("AsLevelAsItGets"), 30_000);
    expect(planner.asked("default")).toEqual([]);
    cluster().resume("kube-controller-manager");
    await eventually(() => expect(planner.asked("default").length).toBeGreaterThan(0), 30_000);
  },
  TEST_TIMEOUT_MS,
);

test(
  "200 evictions under 40 budgets: no answer is 429 or 500, and the hour's limit is met to the pod",
  async () => {
    await planner.policy("berths", { targetSigma: 0.001, workloadSelectors: [{}] });
    await eventually(async () => expect(await evictedBy(service, "default")).toBeGreaterThanOrEqual(HOUR), 100_000);
    await eventually(async () => expect(await planner.reason("berths")).toBe("AsLevelAsItGets"), 20_000);
    const asked = planner.asked("default");
    expect(asked).toHaveLength(HOUR);
    expect(asked.filter(({ code }) => code !== 201)).toEqual([]);
    expect(new Set(asked.map(({ pod }) => pod)).size).toBe(HOUR);
    expect(asked.filter(({ pod }) => NEVER.some((name) => pod.startsWith(`default/${name}-`)))).toEqual([]);
  },
  2 * TEST_TIMEOUT_MS,
);
