import { join } from "node:path";
import {
  apply,
  chartAccount,
  get,
  kubectl,
  list,
  TEST_TIMEOUT_MS,
  tokenOf,
  usedRights,
  useCluster,
  watchObjects,
} from "@evenkeel/e2e";
import { eventually } from "@evenkeel/runtime/testing";
import { definitionOf, ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";

const CHART = "eviction-planner";
const main = join(import.meta.dirname, "../dist/main.mjs");
const cluster = useCluster({ name: CHART, nodes: { count: 3, cpu: "4", memory: "8Gi" }, audit: true });
const DEFINITIONS = ["rebalancepolicies", "workloadsloes", "nodeclasses"];

/** Rights that an ordinary run need not use, and why they are granted. */
const SELDOM_USED = new Map([
  ["get rebalancepolicies.rebalancer.dev", "the status is written to the object as it is now after a conflict"],
  ["get workloadsloes.rebalancer.dev", "as above"],
  ["get nodeclasses.rebalancer.dev", "as above"],
  ["patch events.events.k8s.io", "an Event that repeats is counted, not created again"],
  ["list pods.metrics.k8s.io", "this cluster has no metrics server, and nodes are read first"],
]);
/** Objects are listed where the API server is too old to stream them with the watch. */
const isListedByWatch = (right: string) => right.startsWith("list ") && !right.includes("metrics.k8s.io");

let service: ServiceProcess;

beforeAll(async () => {
  await kubectl(cluster(), ["apply", "-f", "-"], { input: DEFINITIONS.map(definitionOf).join("\n---\n") });
  const names = DEFINITIONS.map((plural) => `crd/${plural}.rebalancer.dev`);
  await kubectl(cluster(), ["wait", "--for=condition=Established", ...names, "--timeout=30s"]);
  await hotSpot();
  const { kubeconfig } = await chartAccount(cluster(), {
    ...{ chart: CHART, namespace: "default", values: ["settings.allowSurge=true"] },
  });
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    "--insecure",
    "--grpc-port=0",
    "--state=sqlite::memory:",
    "--allow-surge",
  ];
  service = ServiceProcess.start(main, [...flags, "--sync-period=1s"]);
  await service.phase("ready");
}, TEST_TIMEOUT_MS);

afterAll(async () => service[Symbol.asyncDispose]());

/** Every pod of a Deployment is on one node, because the others took none at the time. */
async function hotSpot(): Promise<void> {
  const [first, ...others] = (await list(cluster(), "nodes")).map(({ metadata }) => metadata.name);
  for (const node of others) await kubectl(cluster(), ["cordon", node]);
  const labels = { app: "press", rebalancer: "ok" };
  const resources = { requests: { cpu: "500m", memory: "1Gi" } };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "press:1", resources }] } };
  await apply(cluster(), {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "press", namespace: "default" },
    spec: { replicas: 7, selector: { matchLabels: { app: "press" } }, template },
  });
  await kubectl(cluster(), ["rollout", "status", "deployment/press", "--timeout=60s"]);
  expect(await nodesOfPress()).toEqual(Array<string>(7).fill(first ?? ""));
  for (const node of others) await kubectl(cluster(), ["uncordon", node]);
}

async function nodesOfPress(): Promise<readonly string[]> {
  const pods = await list<{ spec: { nodeName: string } }>(cluster(), "pods", "-l", "app=press");
  return pods.map(({ spec }) => spec.nodeName);
}

const policy = (name: string, spec: object) => ({
  ...{ apiVersion: "rebalancer.dev/v1", kind: "RebalancePolicy", metadata: { name }, spec },
});

interface Verdict {
  readonly holds: readonly { readonly reason: string; readonly sentence: string }[];
  readonly move?: { readonly limits: readonly string[] };
}

/** What the policy would do with each pod of an app. */
async function verdicts(app: string): Promise<readonly Verdict[]> {
  const pods = await list(cluster(), "pods", "-l", `app=${app}`);
  const answers: Verdict[] = [];
  for (const { metadata } of pods) {
    const address = await service.url("admin", `/api/v1/Evictions/Explain?policy=berths&pod=default/${metadata.name}`);
    const { verdicts: [verdict] = [] } = (await (await fetch(address)).json()) as { verdicts?: readonly Verdict[] };
    if (verdict !== undefined) answers.push(verdict);
  }
  return answers;
}

async function metric(line: RegExp): Promise<number> {
  return Number(line.exec(await (await fetch(await service.url("admin", "/metrics"))).text())?.[1] ?? NaN);
}

test(
  "plans for a hot node of a real cluster with the rights of its chart, and evicts nothing in dry run",
  async () => {
    const uids = async () => (await list(cluster(), "pods", "-l", "app=press")).map(({ metadata }) => metadata.uid);
    const before = await uids();
    // Pods are left alone for two minutes after they started where usage counts; requests are known at once.
    // Its name comes before that of the chart's policy, which selects the same pods.
    await apply(cluster(), policy("berths", { basis: "requests" }));
    await eventually(async () => {
      const { status } = await get<{ status: { plan: object } }>(cluster(), "rbpol", "berths");
      expect(status).toMatchObject({ plan: { hotNodes: 1, dryRun: true, evictionsExecuted: 0 } });
      expect(await metric(/^rebalancer_dry_run_evictions_total (\d+)$/m)).toBeGreaterThan(0);
    }, 20_000);
    expect(await kubectl(cluster(), ["get", "rbpol"])).toMatch(/NAME +DRY RUN +HOT +SIGMA +PREDICTED +PLANNED/);
    const events = await list<{ reason: string; regarding: { kind: string } }>(
      ...[cluster(), "events.events.k8s.io", "-A"],
    );
    expect(events.map(({ reason, regarding }) => [regarding.kind, reason])).toContainEqual(
      ...[["RebalancePolicy", expect.stringMatching(/HotNodes|AsLevelAsItGets/)]],
    );
    expect(await uids()).toEqual(before);
  },
  TEST_TIMEOUT_MS,
);

test(
  "skips pods whose disruption budget allows no disruption, and pods of system components",
  async () => {
    await apply(cluster(), {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "press", namespace: "default" },
      spec: { minAvailable: 7, selector: { matchLabels: { app: "press" } } },
    });
    await apply(cluster(), {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "core", namespace: "default" },
      spec: {
        ...{ replicas: 1, selector: { matchLabels: { app: "core" } } },
        template: {
          metadata: { labels: { app: "core", rebalancer: "ok" } },
          spec: { priorityClassName: "system-cluster-critical", containers: [{ name: "main", image: "core:1" }] },
        },
      },
    });
    await eventually(async () => {
      const held = (await verdicts("press")).map(({ holds }) => holds.map(({ reason }) => reason));
      expect(held).toEqual(Array<string[]>(7).fill(["DisruptionBudget"]));
      const [core] = await verdicts("core");
      expect(core?.holds.map(({ reason }) => reason)).toContain("Critical");
    }, 30_000);
    await kubectl(cluster(), ["delete", "poddisruptionbudget/press", "deployment/core"]);
  },
  TEST_TIMEOUT_MS,
);

test(
  "prefers to move pods to a NodeClass that the policy and the pods name",
  async () => {
    const [, second] = (await list(cluster(), "nodes")).map(({ metadata }) => metadata.name);
    await kubectl(cluster(), ["label", "node", second ?? "", "example.com/class=arm"]);
    await apply(cluster(), {
      apiVersion: "rebalancer.dev/v1",
      kind: "NodeClass",
      metadata: { name: "arm" },
      spec: { matchLabels: { "example.com/class": "arm" }, preferredFor: ["cpu-bound"], weight: 50 },
    });
    await apply(cluster(), policy("berths", { basis: "requests", nodeClassPreference: ["arm"] }));
    await eventually(async () => {
      const { status } = await get<{ status: { plan: { sigma: number; predicted: number } } }>(
        ...[cluster(), "rbpol", "berths"],
      );
      expect(status.plan.predicted).toBeLessThan(status.plan.sigma);
    }, 20_000);
  },
  TEST_TIMEOUT_MS,
);

test(
  "evicts from the hot node when dryRun is false, within the hour's budget, and the replacement becomes ready elsewhere",
  async () => {
    const [first] = await nodesOfPress();
    await apply(cluster(), {
      apiVersion: "rebalancer.dev/v1",
      kind: "WorkloadSLO",
      metadata: { name: "press", namespace: "default" },
      spec: { maxDisruptionsPerHour: 1 },
    });
    await apply(cluster(), policy("berths", { basis: "requests", dryRun: false }));
    await eventually(async () => {
      const nodes = await nodesOfPress();
      expect(nodes).toHaveLength(7);
      expect(nodes.filter((node) => node === first)).toHaveLength(6);
      const { status } = await get<{ status: object }>(cluster(), "rbpol", "berths");
      expect(status).toMatchObject({ plan: { lastExecutionTime: expect.any(String), dryRun: false } });
    }, 60_000);
    const left = await verdicts("press");
    const holds = left.flatMap((verdict) => verdict.holds);
    expect(holds).toContainEqual(
      ...[expect.objectContaining({ reason: "HourlyLimit", sentence: expect.stringContaining("budget exhausted") })],
    );
    expect(left.filter(({ move }) => move !== undefined)).toEqual([]);
    const events = await list<{ reason: string; regarding: { kind: string } }>(cluster(), "events.events.k8s.io");
    expect(events.map(({ reason, regarding }) => [regarding.kind, reason])).toContainEqual(["Pod", "Evicting"]);
  },
  TEST_TIMEOUT_MS,
);

const SLICES_OF_LONE = ["endpointslices", "-l", "kubernetes.io/service-name=lone", "--timeout=30s"];

/** The fewest endpoints of a Service that were ready at any time until `signal` aborts. */
async function leastReady(service: string, signal: AbortSignal): Promise<number> {
  let least = Infinity;
  const slices = watchObjects<Slice>(cluster(), "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", signal);
  for await (const all of slices) {
    const own = all.filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === service);
    const ready = own.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions.ready === true);
    least = Math.min(least, ready.length);
  }
  return least;
}

interface Slice {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly endpoints: readonly { readonly conditions: { readonly ready?: boolean } }[] | null;
}

test(
  "moves the only pod of a Deployment by a surge: its Service never has fewer than one ready endpoint, by watch",
  async () => {
    await kubectl(cluster(), ["delete", "workloadslo/press", "rbpol/berths"]);
    const [first, ...others] = (await list(cluster(), "nodes")).map(({ metadata }) => metadata.name);
    for (const node of others) await kubectl(cluster(), ["cordon", node]);
    const resources = { requests: { cpu: "500m", memory: "1Gi" } };
    await apply(cluster(), {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "lone", namespace: "default" },
      spec: {
        ...{ replicas: 1, selector: { matchLabels: { app: "lone" } } },
        template: {
          metadata: { labels: { app: "lone" } },
          spec: { containers: [{ name: "main", image: "lone:1", resources }] },
        },
      },
    });
    await kubectl(cluster(), ["expose", "deployment/lone", "--port=80"]);
    await kubectl(cluster(), ["rollout", "status", "deployment/lone", "--timeout=60s"]);
    await kubectl(cluster(), ["wait", "--for=jsonpath={.endpoints[0].conditions.ready}=true", ...SLICES_OF_LONE]);
    for (const node of others) await kubectl(cluster(), ["uncordon", node]);
    await apply(cluster(), {
      apiVersion: "rebalancer.dev/v1",
      kind: "WorkloadSLO",
      metadata: { name: "lone", namespace: "default" },
      spec: { singleReplica: "surge" },
    });
    const spec = { basis: "requests", dryRun: false, targetSigma: 0.001 };
    const watching = new AbortController();
    const least = leastReady("lone", watching.signal);
    await apply(cluster(), policy("alone", { ...spec, workloadSelectors: [{ matchLabels: { app: "lone" } }] }));
    await eventually(async () => {
      const pods = await list<{ spec: { nodeName?: string } }>(cluster(), "pods", "-l", "app=lone");
      expect(pods.map((pod) => pod.spec.nodeName === first)).toEqual([false]);
    }, 60_000);
    watching.abort();
    expect(await least).toBe(1);
    await kubectl(cluster(), ["delete", "rbpol/alone", "deployment/lone", "service/lone"]);
  },
  TEST_TIMEOUT_MS,
);

test(
  "the default policy of the chart is held without usage, and can be paused by whoever may patch it",
  async () => {
    await eventually(async () => {
      const { status, spec } = await get<{ status: object; spec: object }>(cluster(), "rbpol", "default");
      expect(spec).toMatchObject({ dryRun: true, workloadSelectors: [{ matchLabels: { rebalancer: "ok" } }] });
      const held = expect.objectContaining({ type: "Ready", status: "False", reason: "NoUsage" });
      expect(status).toMatchObject({ conditions: expect.arrayContaining([held]) });
    }, 20_000);
    await kubectl(cluster(), ["create", "serviceaccount", "operator"]);
    const rights = ["--verb=patch", "--resource=rebalancepolicies.rebalancer.dev"];
    await kubectl(cluster(), ["create", "clusterrole", "pauses", ...rights]);
    const bound = ["--clusterrole=pauses", "--serviceaccount=default:operator"];
    await kubectl(cluster(), ["create", "clusterrolebinding", "pauses", ...bound]);
    const token = await tokenOf(cluster(), "default", "operator");
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const body = JSON.stringify({ policy: "default" });
    const address = await service.url("admin", "/api/v1/Evictions/Pause");
    await eventually(async () => expect((await fetch(address, { method: "POST", headers, body })).status).toBe(200));
    await eventually(async () => {
      const { status } = await get<{ status: object }>(cluster(), "rbpol", "default");
      const paused = expect.objectContaining({ type: "Paused", status: "True" });
      expect(status).toMatchObject({ conditions: expect.arrayContaining([paused]) });
    });
    service.signal("SIGTERM");
    expect((await service.exit).code).toBe(0);
  },
  TEST_TIMEOUT_MS,
);

test("by the audit log of all this, the chart's account was refused nothing, and has no right that it does not use", async () => {
  const { refused, allowedElsewhere, unused } = await usedRights(cluster(), CHART);
  expect({ refused, allowedElsewhere }).toEqual({ refused: [], allowedElsewhere: [] });
  expect(unused.filter((right) => !SELDOM_USED.has(right) && !isListedByWatch(right))).toEqual([]);
});
