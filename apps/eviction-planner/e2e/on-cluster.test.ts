import { join } from "node:path";
import { apply, chartAccount, get, kubectl, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { eventually } from "@evenkeel/runtime/testing";
import { definitionOf, ServiceProcess } from "@evenkeel/testkit";
import { beforeAll, expect, test } from "@jest/globals";

const main = join(import.meta.dirname, "../dist/main.mjs");
const cluster = useCluster({ name: "eviction-planner", nodes: 0 });

beforeAll(async () => {
  await kubectl(cluster(), ["apply", "-f", "-"], { input: definitionOf("evictionplanners") });
  await kubectl(cluster(), [
    "wait",
    "--for=condition=Established",
    "crd",
    "evictionplanners.evenkeel.io",
    "--timeout=30s",
  ]);
}, TEST_TIMEOUT_MS);

test(
  "keeps the level of a real cluster's ConfigMap, with the rights of its chart",
  async () => {
    const metadata = { name: "harbour", namespace: "default" };
    await apply(
      cluster(),
      { apiVersion: "v1", kind: "ConfigMap", metadata, data: { level: "7" } },
      {
        apiVersion: "evenkeel.io/v1alpha1",
        kind: "EvictionPlanner",
        metadata,
        spec: { configMap: "harbour", level: 5 },
      },
    );
    const { kubeconfig } = await chartAccount(cluster(), { chart: "eviction-planner", namespace: "default" });
    const flags = [`--kubeconfig=${kubeconfig}`, "--insecure", "--grpc-port=0", "--state=sqlite::memory:"];
    await using service = ServiceProcess.start(main, [...flags, "--interval=1s"]);
    await service.phase("ready");
    await eventually(async () => {
      expect(await get(cluster(), "configmap", "harbour")).toMatchObject({ data: { level: "5" } });
      expect(await get(cluster(), "evictionplanner", "harbour")).toMatchObject({ status: { level: 5 } });
    });
    service.signal("SIGTERM");
    expect((await service.exit).code).toBe(0);
  },
  TEST_TIMEOUT_MS,
);
