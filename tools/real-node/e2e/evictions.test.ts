import { charts, Release, serviceCharts } from "@evenkeel/charts";
import { apply, get, kubectl, type KubeObject, list, TEST_TIMEOUT_MS, waitUntil } from "@evenkeel/e2e";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { describeOnRealNode, NODE_IMAGE, writeServiceImage } from "../src/index.ts";

const SERVICE = "eviction-planner";
const SYSTEM = "evictions-system";
const NAMESPACE = "evictions";
const IN_PLACE = ["-n", NAMESPACE];
/** A Node object without a kubelet. The test reports its pods as ready. */
const SECOND_NODE = "evictions-second";

interface Pod {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string };
}

interface Node {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly status: { readonly allocatable: Readonly<Record<string, string>> };
}

describeOnRealNode(
  "eviction-planner from the umbrella chart, with its image, under Pod Security restricted",
  (cluster) => {
    let release: Release;

    beforeAll(async () => {
      await cluster().loadImage(writeServiceImage(SERVICE));
      release = await Release.prepare(cluster());
      for (const namespace of [SYSTEM, NAMESPACE]) await kubectl(cluster(), ["create", "namespace", namespace]);
      const restricted = "pod-security.kubernetes.io/enforce=restricted";
      await kubectl(cluster(), ["label", "namespace", SYSTEM, NAMESPACE, restricted]);
      const enabled = serviceCharts(charts).map((name) => `${name}.enabled=${name === SERVICE}`);
      const [node] = await list(cluster(), "nodes");
      // The second node runs nothing, so the service must not be placed there.
      const nodeSelector = `${SERVICE}.nodeSelector.kubernetes\\.io/hostname=${node?.metadata.name ?? ""}`;
      const values = [...enabled, `${SERVICE}.settings.syncPeriod=1s`, nodeSelector];
      await release.helm(
        ...["install", "evictions", release.chart("evenkeel"), "--namespace", SYSTEM, "--wait", "--timeout", "90s"],
        ...values.flatMap((value) => ["--set", value]),
      );
    }, 2 * TEST_TIMEOUT_MS);

    afterAll(async () => {
      await kubectl(cluster(), ["delete", "node", SECOND_NODE, "--ignore-not-found"]);
      await kubectl(cluster(), ["delete", "namespace", NAMESPACE, SYSTEM, "--wait=false"]);
      release[Symbol.dispose]();
    }, TEST_TIMEOUT_MS);

    const pods = () => list<Pod>(cluster(), "pods", ...IN_PLACE, "-l", "app=press");

    /** The second node has room for what the real one has, and joins after the pods were placed. */
    async function addSecondNode({ metadata, status: { allocatable } }: KubeObject<Node>): Promise<void> {
      const conditions = [{ type: "Ready", status: "True", reason: "Test", message: "" }];
      const labels = { ...metadata.labels, "kubernetes.io/hostname": SECOND_NODE };
      await apply(cluster(), {
        ...{ apiVersion: "v1", kind: "Node", metadata: { name: SECOND_NODE, labels } },
        status: { capacity: allocatable, allocatable, conditions },
      });
    }

    async function reportReady(pod: string): Promise<void> {
      const now = new Date().toISOString();
      const conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => {
        return { type, status: "True", lastTransitionTime: now };
      });
      const status = { phase: "Running", startTime: now, conditions };
      const patch = ["--subresource=status", "--type=strategic", "-p", JSON.stringify({ status })];
      await kubectl(cluster(), ["patch", "pod", pod, ...IN_PLACE, ...patch]);
    }

    /** A metric of the service, read from its pod; NaN if it is not there. */
    async function metric(line: RegExp): Promise<number> {
      const own = ["-n", SYSTEM, "-l", `app.kubernetes.io/name=${SERVICE}`, "--field-selector=status.phase=Running"];
      const [pod] = await list(cluster(), "pods", ...own);
      const path = `/api/v1/namespaces/${SYSTEM}/pods/${pod?.metadata.name ?? ""}:8080/proxy/metrics`;
      const { stdout } = await cluster().kubectl(["get", "--raw", path]);
      return Number(line.exec(stdout)?.[1] ?? NaN);
    }

    test(
      "evicts a real pod within the hour's budget: the kubelet ends it, the scheduler places the replacement where it was foreseen",
      async () => {
        const [node] = await list<Node>(cluster(), "nodes");
        if (node === undefined) throw new Error("the cluster has no node");
        const first = node.metadata.name;
        await apply(cluster(), press());
        await kubectl(cluster(), ["rollout", "status", "deployment/press", ...IN_PLACE, "--timeout=60s"]);
        const before = await pods();
        expect(before.map(({ spec }) => spec.nodeName)).toEqual([first, first, first]);
        await apply(cluster(), {
          ...{
            apiVersion: "rebalancer.dev/v1",
            kind: "WorkloadSLO",
            metadata: { name: "press", namespace: NAMESPACE },
          },
          spec: { maxDisruptionsPerHour: 1 },
        });
        await addSecondNode(node);
        await apply(cluster(), {
          ...{ apiVersion: "rebalancer.dev/v1", kind: "RebalancePolicy", metadata: { name: "berths" } },
          spec: {
            ...{ basis: "requests", dryRun: false, targetSigma: 0.01 },
            workloadSelectors: [{ matchLabels: { app: "press" } }],
          },
        });

        await waitUntil("a replacement on the second node", async () => {
          const moved = (await pods()).find(({ spec }) => spec.nodeName === SECOND_NODE);
          if (moved === undefined) return "there is none";
          await reportReady(moved.metadata.name);
          return undefined;
        });
        const uids = before.map(({ metadata }) => metadata.uid);
        await waitUntil("the kubelet to end the evicted pod", async () => {
          const left = (await pods()).filter(({ metadata }) => uids.includes(metadata.uid));
          return left.length === 2 ? undefined : `${left.length} of 3 are left`;
        });
        await waitUntil("the landing to be counted", async () => {
          const landed = await metric(/^rebalancer_landings_total\{rank="1"\} (\d+)$/m);
          return landed === 1 ? undefined : `the count is ${landed}`;
        });
        const evictions = /^rebalancer_evictions_total\{namespace="evictions",reason="\w+"\} (\d+)$/m;
        expect(await metric(evictions)).toBe(1);
        const { status } = await get<{ status: object }>(cluster(), "rbpol", "berths");
        expect(status).toMatchObject({ plan: { lastExecutionTime: expect.any(String) } });
      },
      TEST_TIMEOUT_MS,
    );

    test(
      "remembers the eviction on its volume when its pod is replaced, and evicts no second one",
      async () => {
        const before = (await pods()).map(({ metadata }) => metadata.uid);
        await kubectl(cluster(), ["rollout", "restart", `deployment/${SERVICE}`, "-n", SYSTEM]);
        await kubectl(cluster(), ["rollout", "status", `deployment/${SERVICE}`, "-n", SYSTEM, "--timeout=60s"]);
        await waitUntil("the budget to be known again", async () => {
          const left = await metric(/^rebalancer_budget_remaining\{namespace="evictions"\} (.+)$/m);
          return left === 0 ? undefined : `it is ${left}`;
        });
        expect((await pods()).map(({ metadata }) => metadata.uid)).toEqual(before);
      },
      TEST_TIMEOUT_MS,
    );
  },
);

/** Three pods that end as soon as they are asked to. Each requests a tenth of two CPUs. */
function press(): object {
  const container = {
    ...{ name: "node", image: NODE_IMAGE, resources: { requests: { cpu: "200m", memory: "64Mi" } } },
    args: ["-e", 'process.on("SIGTERM", () => process.exit(0)); setInterval(() => {}, 1000)'],
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
  };
  const securityContext = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } };
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "press", namespace: NAMESPACE } },
    spec: {
      ...{ replicas: 3, selector: { matchLabels: { app: "press" } } },
      template: { metadata: { labels: { app: "press" } }, spec: { securityContext, containers: [container] } },
    },
  };
}
