import { describe, expect, test } from "@jest/globals";
import { waitUntil } from "@evenkeel/control-plane";
import { apply, configMap, deployment, get, kubectl, TEST_TIMEOUT_MS, useCluster } from "../src/index.ts";

const cluster = useCluster({ name: "faults", nodes: 1 });

describe("kube-apiserver", () => {
  test(
    "that is killed answers nobody, and after a restart serves the same objects at the same address",
    async () => {
      await apply(cluster(), configMap("kept", "before"));
      const { metadata } = await get(cluster(), "configmap", "kept");
      const { server } = cluster();

      await cluster().kill("kube-apiserver");
      const gone = await cluster().kubectl(["get", "configmap", "kept"]);
      expect(gone.code).toBe(1);
      expect(gone.stderr).toContain("was refused");

      await cluster().restart("kube-apiserver");
      expect(cluster().server).toBe(server);
      const back = await get<{ data: { value: string } }>(cluster(), "configmap", "kept");
      expect(back.metadata.uid).toBe(metadata.uid);
      expect(back.data.value).toBe("before");
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "that came back is found again by controllers, scheduler and KWOK",
    async () => {
      await cluster().restart("kube-apiserver");
      await apply(cluster(), deployment("after-restart", 2));
      await kubectl(cluster(), ["rollout", "status", "deployment/after-restart", "--timeout=60s"]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "that is paused keeps its callers waiting, and serves them when it goes on",
    async () => {
      cluster().pause("kube-apiserver");
      const waiting = await cluster().kubectl(["get", "namespaces", "--request-timeout=1s"]);
      expect(waiting.code).toBe(1);
      cluster().resume("kube-apiserver");
      await waitUntil("it answers again", async () => {
        const { code, stderr } = await cluster().kubectl(["get", "namespaces", "--request-timeout=5s"]);
        return code === 0 ? undefined : stderr;
      });
    },
    TEST_TIMEOUT_MS,
  );
});

test(
  "without a scheduler pods wait, and run once it is back",
  async () => {
    interface Status {
      readonly status: { readonly readyReplicas?: number; readonly unavailableReplicas?: number };
    }
    await cluster().kill("kube-scheduler");
    await apply(cluster(), deployment("waiting", 1));
    await waitUntil("its pod is there and waits", async () => {
      const { status } = await get<Status>(cluster(), "deployment", "waiting");
      return status.unavailableReplicas === 1 ? undefined : JSON.stringify(status);
    });
    await cluster().restart("kube-scheduler");
    await kubectl(cluster(), ["rollout", "status", "deployment/waiting", "--timeout=60s"]);
  },
  TEST_TIMEOUT_MS,
);

test(
  "components tell their pids and memory, and which of them does not run",
  async () => {
    await cluster().kill("kwok");
    const states = cluster().components();
    expect(states.map(({ component, running }) => [component, running])).toEqual([
      ["etcd", true],
      ["kube-apiserver", true],
      ["kube-controller-manager", true],
      ["kube-scheduler", true],
      ["kwok", false],
    ]);
    expect(states.find(({ component }) => component === "kube-apiserver")?.residentBytes).toBeGreaterThan(50e6);
    await cluster().restart("kwok");
  },
  TEST_TIMEOUT_MS,
);
