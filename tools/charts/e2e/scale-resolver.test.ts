import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitUntil } from "@evenkeel/control-plane";
import {
  apply,
  get,
  kubectl,
  list,
  ServicePod,
  START_TIMEOUT_MS,
  TEST_TIMEOUT_MS,
  tokenOf,
  usedRights,
  useCluster,
} from "@evenkeel/e2e";
import { connectKube, type KubeClient } from "@evenkeel/kube";
import { type Prometheus, startPrometheus } from "@evenkeel/sim";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { charts, serviceCharts } from "../src/index.ts";
import { type HookPod, PodRunner } from "./pod-runner.ts";
import { Release } from "../src/release.ts";

// The tests of this file are the life of one release, in order: each goes on from where the one before left off.

const root = join(import.meta.dirname, "../../..");
const NAMESPACE = "evenkeel-system";
const SERVICE = "scale-resolver";
const QUERY = "sum(requests)";
const UPTIME = 'min_over_time((max(up{container="prometheus"}) or vector(0))[1s:])';
const SLICES = ["-l", "endpointslice.kubernetes.io/managed-by=scale-resolver.evenkeel.io"];
const VALUES = [
  ...serviceCharts(charts).map((service) => `${service}.enabled=${String(service === SERVICE)}`),
  ...[`${SERVICE}.shutdown.delaySeconds=0`, `${SERVICE}.shutdown.drainSeconds=5`],
  // Nothing leads to pods here, so that no probe would come back.
  ...["pathProbe=false", "triggerInterval=1s", "settle=1s", "warmUp=0s", "port=8912", "portRange=22950-22969"].map(
    (setting) => `${SERVICE}.settings.${setting}`,
  ),
].flatMap((value) => ["--set", value]);

let kube: KubeClient;
let release: Release;
let prometheus: Prometheus;
let runner: PodRunner;
let service: ServicePod | undefined;

// Hooks that end things run in the order in which they are written, and the cluster goes last.
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
  await service?.[Symbol.asyncDispose]();
  await Promise.all([prometheus.stop(), kube.stop()]);
  release[Symbol.dispose]();
}, TEST_TIMEOUT_MS);

const cluster = useCluster({ name: "charts-scale", nodes: 1, audit: true });

beforeAll(async () => {
  const settings = { kubeconfig: cluster().kubeconfig, kubeContext: undefined, kubeDeadline: 30_000 };
  const limits = { kubeConnections: 4, kubeQps: 0, kubeBurst: 100 };
  kube = connectKube({ settings: { ...settings, ...limits }, env: {}, userAgent: "charts-e2e" });
  release = await Release.prepare(cluster());
  prometheus = await startPrometheus();
  const vector = (value: number) => () => ({ kind: "vector", samples: [{ metric: {}, value }] }) as const;
  prometheus.answer(QUERY, vector(0));
  prometheus.answer(UPTIME, vector(1));
  await kubectl(cluster(), ["create", "namespace", "shop"]);
  await kubectl(cluster(), ["create", "namespace", NAMESPACE]);
  const restricted = "pod-security.kubernetes.io/enforce=restricted";
  await kubectl(cluster(), ["label", "namespace", NAMESPACE, restricted]);
  runner = new PodRunner({ kube, namespace: NAMESPACE, containers: ["release", "cleanup"], environment });
}, START_TIMEOUT_MS);

/** What is elsewhere for a hook's process on this machine than for one in a cluster. */
async function environment({ spec }: HookPod): Promise<Readonly<Record<string, string>>> {
  const { hostname, port } = new URL(cluster().server);
  const file = join(release.folder, "hook-token");
  writeFileSync(file, await tokenOf(cluster(), NAMESPACE, spec.serviceAccountName ?? ""));
  const address = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
  return { ...address, TOKEN_FILE: file, NODE_EXTRA_CA_CERTS: cluster().caFile };
}

interface ElastiService {
  readonly metadata: {
    readonly finalizers?: readonly string[];
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly status?: { readonly state?: string };
}

const elastiService = () => get<ElastiService>(cluster(), "elastiservice", "web", "-n", "shop");
const replicas = async () =>
  (await get<{ spec: { replicas?: number } }>(cluster(), "deployment", "web", "-n", "shop")).spec.replicas;

/** An idle workload, its Service and its ElastiService. */
function web(): readonly object[] {
  const labels = { app: "web" };
  const metadata = { namespace: "shop", name: "web" };
  const spec = { containers: [{ name: "main", image: "images.invalid/web:1" }] };
  const trigger = { query: QUERY, serverAddress: prometheus.url, threshold: "0.5" };
  return [
    {
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
    { apiVersion: "v1", kind: "Service", metadata, spec: { selector: labels, ports: [{ name: "http", port: 80 }] } },
    {
      ...{ apiVersion: "elasti.truefoundry.com/v1alpha1", kind: "ElastiService", metadata },
      spec: {
        ...{ service: "web", cooldownPeriod: 1, quietPeriod: 1 },
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        triggers: [{ type: "prometheus", metadata: trigger }],
      },
    },
  ];
}

test(
  "with exactly the chart's account the service puts a workload to sleep, and is in the path of its Service",
  async () => {
    await release.helm(
      ...["install", "evenkeel", release.chart("evenkeel"), "-n", NAMESPACE, ...VALUES],
      ...["--wait", "--timeout", "60s"],
    );
    const own = ["-n", NAMESPACE, "-l", `app.kubernetes.io/name=${SERVICE}`];
    const [pod] = await list(cluster(), "pods", ...own);
    service = await ServicePod.start({
      ...{ cluster: cluster(), namespace: NAMESPACE, name: SERVICE, folder: release.folder },
      main: join(root, `apps/${SERVICE}/dist/main.mjs`),
      flags: [],
      env: { POD_NAME: pod?.metadata.name ?? "" },
    });
    await service.process.phase("ready");
    await apply(cluster(), ...web());
    await waitUntil("the workload to sleep", async () => {
      const { status } = await elastiService();
      return status?.state === "Zero" ? undefined : `its status is ${JSON.stringify(status)}`;
    });
    expect(await replicas()).toBe(0);
    expect((await elastiService()).metadata.finalizers).toEqual(["elasti.truefoundry.com/finalizer"]);
    expect(await list(cluster(), "endpointslices", "-n", "shop", ...SLICES)).toHaveLength(1);
  },
  TEST_TIMEOUT_MS,
);

test("its own Service asks for addresses of both families, by which it joins the paths of Services that have both", async () => {
  const { spec } = await get<{ spec: { ipFamilyPolicy?: string } }>(cluster(), "service", SERVICE, "-n", NAMESPACE);
  expect(spec.ipFamilyPolicy).toBe("PreferDualStack");
});

test("by the audit log no right was missing", async () => {
  const { refused, allowedElsewhere } = await usedRights(cluster(), SERVICE);
  expect({ refused, allowedElsewhere }).toEqual({ refused: [], allowedElsewhere: [] });
});

test(
  "an uninstall wakes what sleeps before the service goes, and leaves the object as it was",
  async () => {
    await release.helm("uninstall", "evenkeel", "-n", NAMESPACE, "--timeout", "120s");
    expect((await service?.process.exit)?.code).toBe(0);
    expect(await replicas()).toBe(1);
    expect(await list(cluster(), "endpointslices", "-n", "shop", ...SLICES)).toEqual([]);
    const { finalizers = [], annotations = {} } = (await elastiService()).metadata;
    expect([finalizers, annotations["evenkeel.io/release"]]).toEqual([[], undefined]);
    // Neither had anything to complain of, or to do in the service's place.
    expect(runner.said).toEqual(["", ""]);
    const left = ["jobs,pods,serviceaccounts,roles,rolebindings,leases", "-n", NAMESPACE, "-o", "name"];
    expect((await kubectl(cluster(), ["get", ...left])).trim()).toBe("serviceaccount/default");
  },
  TEST_TIMEOUT_MS,
);
