import { describe, expect, test } from "@jest/globals";
import { waitUntil } from "@evenkeel/control-plane";
import {
  apply,
  deployment,
  disruptionBudget,
  get,
  kubectl,
  list,
  type Pod,
  TEST_TIMEOUT_MS,
  useCluster,
} from "../src/index.ts";

const NODES = ["node-0", "node-1", "node-2"];

const cluster = useCluster({ name: "workloads", nodes: NODES.length });

async function runningPods(app: string): Promise<string[]> {
  const pods = await list<Pod>(cluster(), "pods", "-l", `app=${app}`);
  return pods.filter(({ status }) => status.phase === "Running").map(({ metadata }) => metadata.name);
}

async function untilRunning(app: string, count: number): Promise<void> {
  await waitUntil(`${count} pods of ${app} run`, async () => {
    const running = (await runningPods(app)).length;
    return running === count ? undefined : `${running} run`;
  });
}

test(
  "a claim without a class gets a volume, so that its pod runs",
  async () => {
    const metadata = { name: "claim", namespace: "default" };
    const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "claim" } }];
    const containers = [{ name: "main", image: "example.invalid/none" }];
    await apply(
      cluster(),
      { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec: claim },
      { apiVersion: "v1", kind: "Pod", metadata, spec: { containers, volumes } },
    );
    await waitUntil("the pod runs", async () => {
      const { status } = await get<Pod>(cluster(), "pod", "claim");
      return status.phase === "Running" ? undefined : `its phase is ${status.phase}`;
    });
    const { status } = await get<{ status: object }>(cluster(), "persistentvolumeclaim", "claim");
    expect(status).toMatchObject({ phase: "Bound", capacity: { storage: "10Gi" } });
    // No node can be drained of a pod that nobody would make again.
    await kubectl(cluster(), ["delete", "pod", "claim"]);
  },
  TEST_TIMEOUT_MS,
);

describe("a Deployment", () => {
  test(
    "that kubectl creates becomes running pods with addresses on KWOK nodes, and they go when it is deleted",
    async () => {
      await apply(cluster(), deployment("web", 6));
      await kubectl(cluster(), ["rollout", "status", "deployment/web", "--timeout=60s"]);

      const pods = await list<Pod>(cluster(), "pods", "-l", "app=web");
      expect(pods.map(({ status }) => status.phase)).toEqual(Array(6).fill("Running"));
      expect(new Set(pods.map(({ spec }) => spec.nodeName))).toEqual(new Set(NODES));
      expect(new Set(pods.map(({ status }) => status.podIP)).size).toBe(6);
      for (const { status } of pods) expect(status.podIP).toMatch(/^10\.200\./);

      await kubectl(cluster(), ["delete", "deployment", "web"]);
      await waitUntil("its pods are gone", async () => {
        const left = await list(cluster(), "pods", "-l", "app=web");
        return left.length === 0 ? undefined : `${left.length} left`;
      });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "leaves a drained node for the others",
    async () => {
      await apply(cluster(), deployment("drained", 3));
      await untilRunning("drained", 3);
      await kubectl(cluster(), ["drain", "node-0", "--ignore-daemonsets", "--timeout=60s"]);
      await untilRunning("drained", 3);
      const pods = await list<Pod>(cluster(), "pods", "-l", "app=drained");
      expect(pods.map(({ spec }) => spec.nodeName)).not.toContain("node-0");
      await kubectl(cluster(), ["uncordon", "node-0"]);
    },
    TEST_TIMEOUT_MS,
  );
});

describe("an eviction", () => {
  async function evict(pod: string): Promise<{ code: number; stderr: string }> {
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: pod, namespace: "default" } };
    const path = `/api/v1/namespaces/default/pods/${pod}/eviction`;
    return cluster().kubectl(["create", "--raw", path, "-f", "-"], { input: JSON.stringify(eviction) });
  }

  async function untilAllowed(budget: string, disruptions: number): Promise<void> {
    await waitUntil(`${budget} allows ${disruptions}`, async () => {
      const { status } = await get<{ status: { disruptionsAllowed: number; currentHealthy: number } }>(
        cluster(),
        "poddisruptionbudget",
        budget,
      );
      const met = status.currentHealthy === 2 && status.disruptionsAllowed === disruptions;
      return met ? undefined : JSON.stringify(status);
    });
  }

  test(
    "is refused while the budget allows none, and granted once it does",
    async () => {
      await apply(cluster(), deployment("guarded", 2), disruptionBudget("guarded", 2));
      await untilRunning("guarded", 2);
      await untilAllowed("guarded", 0);
      const [victim = ""] = await runningPods("guarded");

      const refused = await evict(victim);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain("Error from server (TooManyRequests)");
      expect(refused.stderr).toContain("would violate the pod's disruption budget");
      expect(await runningPods("guarded")).toContain(victim);

      await apply(cluster(), disruptionBudget("guarded", 1));
      await untilAllowed("guarded", 1);
      expect(await evict(victim)).toMatchObject({ code: 0 });
      await waitUntil("another pod has taken the place of the victim", async () => {
        const running = await runningPods("guarded");
        return running.length === 2 && !running.includes(victim) ? undefined : running.join(", ");
      });
    },
    TEST_TIMEOUT_MS,
  );
});
