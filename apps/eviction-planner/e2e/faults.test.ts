import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apply, kubectl, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { eventually } from "@evenkeel/runtime/testing";
import type { ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { budget, evictedBy, planCount, PlannerOnCluster, workload } from "./planner-on-cluster.ts";

// The tests of this file are the life of one cluster, in order. The API server's audit log counts evictions.

const OLD_NODES = 4;
const NODES = 12;
/** Nodes at the end: half of them joined when the scheduler began to fill nodes up. */
const MOST_NODES = 24;
const SHAPE = { cpu: "8", memory: "32Gi" };
const NAMESPACES = ["limited", "free"];
/** Evictions of an hour in the first namespace, and of a minute in both. */
const HOUR = 8;
const MINUTE = 16;

const folder = mkdtempSync(join(tmpdir(), "planner-faults-"));
const services: ServiceProcess[] = [];
let planner: PlannerOnCluster;
let scheduler: ChildProcess | undefined;

// Before the cluster's own hook: kube-apiserver would wait for the watches of these processes to end.
afterAll(async () => {
  await Promise.all(services.map((service) => service[Symbol.asyncDispose]()));
  scheduler?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const cluster = useCluster({ name: "faults", nodes: { count: OLD_NODES, ...SHAPE }, audit: true });

/** The Lease of a killed process is over soon. */
const SHORT_LEASE = ["--lease-duration=3s", "--lease-renew-deadline=2s", "--lease-retry-period=300ms"];

function serve(state: string, ...flags: readonly string[]): ServiceProcess {
  const service = planner.serve(`--state=${state}`, ...flags);
  services.push(service);
  return service;
}

async function kill(service: ServiceProcess): Promise<void> {
  service.signal("SIGKILL");
  await service.exit;
}

beforeAll(async () => {
  planner = await PlannerOnCluster.prepare(cluster());
  for (const namespace of NAMESPACES) await kubectl(cluster(), ["create", "namespace", namespace]);
  for (const namespace of NAMESPACES) {
    const workloads = ["one", "two", "three"].map((name) => workload(namespace, name, { replicas: 6, cpu: "500m" }));
    await apply(cluster(), ...workloads, budget(namespace, "one", { app: "one" }, { maxUnavailable: 1 }));
  }
  await planner.untilAll("Available", "deployments", "-A");
  await planner.addNodes(OLD_NODES, NODES, SHAPE);
  await planner.slo("limited", { maxDisruptionsPerHour: HOUR });
}, TEST_TIMEOUT_MS * 2);

test(
  "kill -9 before, in and after an eviction, and an API server that restarts in a wave, buy no eviction and move no pod twice",
  async () => {
    const state = `sqlite:${folder}/state.db`;
    const first = serve(state, ...SHORT_LEASE);
    await planner.policy("berths", { targetSigma: 0.001, maxEvictionsPerMinute: MINUTE, workloadSelectors: [{}] });
    // Recorded, and its call is on the way: the API server does not answer any more.
    await first.line(({ reason }) => reason === "Evicting");
    cluster().pause("kube-apiserver");
    await kill(first);
    cluster().resume("kube-apiserver");

    const second = serve(state, ...SHORT_LEASE);
    await second.line(({ msg }) => msg === "evicted a pod");
    await kill(second);

    const third = serve(state, ...SHORT_LEASE);
    await third.phase("ready");
    await kill(third);

    // Its Lease outlasts the restart of the API server.
    const fourth = serve(state, "--lease-retry-period=300ms");
    await fourth.line(({ reason }) => reason === "Evicting");
    await cluster().kill("kube-apiserver");
    const answered = NAMESPACES.flatMap((namespace) => planner.asked(namespace)).length;
    await cluster().restart("kube-apiserver");
    // An eviction that was recorded and never made holds its node and its workload for two minutes.
    await eventually(async () => {
      expect(await evictedBy(fourth, "free")).toBeGreaterThan(0);
      expect(await planner.reason("berths")).toBe("AsLevelAsItGets");
      expect(NAMESPACES.flatMap((namespace) => planner.asked(namespace)).length).toBeGreaterThan(answered);
    }, 150_000);
    // It gives the Lease back, for the next test.
    fourth.signal("SIGTERM");
    await fourth.exit;

    const asked = NAMESPACES.flatMap((namespace) => planner.asked(namespace)).sort((one, other) => one.at - other.at);
    const made = asked.filter(({ code }) => code === 201);
    expect(made.filter(({ pod }) => pod.startsWith("limited/")).length).toBeLessThanOrEqual(HOUR);
    for (const { at } of made) {
      expect(made.filter((each) => each.at >= at && each.at < at + 60_000).length).toBeLessThanOrEqual(MINUTE);
    }
    expect(new Set(made.map(({ pod }) => pod)).size).toBe(made.length);
    // Neither a disruption budget that is spent nor two of them.
    expect(asked.filter(({ code }) => code === 429 || code === 500)).toEqual([]);
  },
  2 * TEST_TIMEOUT_MS,
);

/** A real kube-scheduler that scores nodes by MostAllocated, in place of the cluster's own. */
async function packNodes(): Promise<void> {
  const own = cluster()
    .components()
    .find(({ component }) => component === "kube-scheduler");
  const program = readlinkSync(`/proc/${own?.pid}/exe`);
  await cluster().kill("kube-scheduler");
  const fit = { name: "NodeResourcesFit" };
  const resources = ["cpu", "memory"].map((name) => ({ name, weight: 1 }));
  const config = join(folder, "scheduler.json");
  writeFileSync(
    config,
    JSON.stringify({
      ...{ apiVersion: "kubescheduler.config.k8s.io/v1", kind: "KubeSchedulerConfiguration" },
      leaderElection: { leaderElect: false },
      clientConnection: { kubeconfig: cluster().kubeconfig },
      profiles: [
        {
          schedulerName: "default-scheduler",
          plugins: { score: { disabled: [fit], enabled: [{ ...fit, weight: 10 }] } },
          pluginConfig: [{ ...fit, args: { scoringStrategy: { type: "MostAllocated", resources } } }],
        },
      ],
    }),
  );
  scheduler = spawn(program, [`--config=${config}`, "--secure-port=0"], { stdio: "ignore" });
  await once(scheduler, "spawn");
}

test(
  "with a scheduler that scores by MostAllocated, landings are not trusted within 50 evictions, and none follows",
  async () => {
    await kubectl(cluster(), ["delete", "rbpol/berths"]);
    await kubectl(cluster(), ["create", "namespace", "packed"]);
    const labels = { tier: "packed" };
    const names = Array.from({ length: 2 * NODES }, (_, index) => `pack-${index}`);
    await apply(cluster(), ...names.map((name) => workload("packed", name, { replicas: 1, cpu: "500m", labels })));
    await planner.untilAll("Available", "deployments", "-n", "packed");
    await packNodes();
    await planner.addNodes(NODES, MOST_NODES, SHAPE);
    const service = serve("sqlite::memory:");
    const workloadSelectors = [{ matchLabels: labels }];
    await planner.policy("packed", { workloadSelectors, targetSigma: 0.001, backoffDuration: "1s" });
    await eventually(async () => {
      const { status } = await planner.status("packed");
      const trusted = status?.conditions?.find(({ type }) => type === "LandingTrusted");
      expect(trusted).toMatchObject({ status: "False", reason: "LandingUntrusted" });
    }, 100_000);
    const asked = planner.asked("packed").length;
    expect(asked).toBeGreaterThan(15);
    expect(asked).toBeLessThanOrEqual(50);
    const plans = await planCount(service);
    await eventually(async () => expect(await planCount(service)).toBeGreaterThan(plans + 3), 60_000);
    expect(planner.asked("packed")).toHaveLength(asked);
    expect(await planner.reason("packed")).toBe("LandingUntrusted");
  },
  2 * TEST_TIMEOUT_MS,
);
