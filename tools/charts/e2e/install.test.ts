import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { kinds, REBALANCE } from "@evenkeel/api";
import { originalShape } from "@evenkeel/crds/original-shape";
import { waitUntil } from "@evenkeel/control-plane";
import {
  apply,
  get,
  kubectl,
  list,
  rightsOf,
  type Role,
  ServicePod,
  START_TIMEOUT_MS,
  TEST_TIMEOUT_MS,
  tokenOf,
  usedRights,
  useCluster,
} from "@evenkeel/e2e";
import { connectKube, type KubeClient } from "@evenkeel/kube";
import { type Prometheus, type Route53, startPrometheus, startRoute53 } from "@evenkeel/sim";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { awsSecret, httpRoute, otherProjectsKinds, recordRebalance, routeRebalance, type World } from "./manifests.ts";
import { type HookPod, PodRunner } from "./pod-runner.ts";
import { Release } from "../src/release.ts";
import { charts, serviceCharts } from "../src/index.ts";

// The tests of this file are the life of one release, in order: each goes on from where the one before left off.

const root = join(import.meta.dirname, "../../..");
const NAMESPACE = "evenkeel-system";
const SERVICE = "weight-rebalancer";
const CRD = `${REBALANCE.plural}.${REBALANCE.group}`;
const QUERY = "sum(requests)";
const IN_PLACE = ["evenkeel", "-n", NAMESPACE];
/** One service alone is run here. */
const VALUES = [
  ...[`${SERVICE}.enabled=true`, `${SERVICE}.shutdown.delaySeconds=0`, `${SERVICE}.settings.route53BatchWindow=50ms`],
].flatMap((value) => ["--set", value]);

/** Rights that not every run uses, and why they are granted. */
const SELDOM_USED = new Map([
  [`list ${CRD}`, "objects are listed where the API server is too old to stream them with the watch"],
  [`get ${CRD}`, "after a conflict the object is read again before its finalizers or its status are written"],
]);

let kube: KubeClient;
let release: Release;
let route53: Route53;
let prometheus: Prometheus;
let world: World;
let metric = 3000;
let runner: PodRunner;
let service: ServicePod | undefined;
/** While rights became fewer and the process from before was still there. */
let upgrade = { from: "", to: "" };

// Hooks that end things run in the order in which they are written, and the cluster goes last.
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
  await service?.[Symbol.asyncDispose]();
  await Promise.all([route53.stop(), prometheus.stop(), kube.stop()]);
  release[Symbol.dispose]();
}, TEST_TIMEOUT_MS);

const cluster = useCluster({ name: "charts", nodes: 1, audit: true });

beforeAll(async () => {
  const settings = { kubeconfig: cluster().kubeconfig, kubeContext: undefined, kubeDeadline: 30_000 };
  const limits = { kubeConnections: 4, kubeQps: 0, kubeBurst: 100 };
  kube = connectKube({ settings: { ...settings, ...limits }, env: {}, userAgent: "charts-e2e" });
  release = await Release.prepare(cluster());
  route53 = await startRoute53({ propagation: 200 });
  const site = (setIdentifier: string, weight: number, value: string) =>
    ({ name: "www.example.com", type: "A", setIdentifier, weight, ttl: 60, values: [value] }) as const;
  route53.addZone("Z1", "example.com", [site("base", 8, "192.0.2.1"), site("blue", 1, "192.0.2.2")]);
  prometheus = await startPrometheus();
  prometheus.answer(QUERY, () => ({ kind: "vector", samples: [{ metric: {}, value: metric }] }));
  world = { route53: route53.url, prometheus: prometheus.url, query: QUERY };

  // As a user of the original has it: its definitions, and an object.
  await apply(cluster(), ...kinds.map(originalShape), ...otherProjectsKinds());
  const routes = join(root, "apps/weight-rebalancer/test/fixtures/httproutes.yaml");
  await kubectl(cluster(), ["apply", "--server-side", "-f", routes]);
  await kubectl(cluster(), ["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"]);
  await kubectl(cluster(), ["create", "namespace", "shop"]);
  await kubectl(cluster(), ["create", "namespace", NAMESPACE]);
  const restricted = "pod-security.kubernetes.io/enforce=restricted";
  await kubectl(cluster(), ["label", "namespace", NAMESPACE, restricted]);
  await apply(
    cluster(),
    awsSecret("shop"),
    httpRoute("shop"),
    recordRebalance("before", "shop", world, { suspend: true }),
  );
  runner = new PodRunner({ kube, namespace: NAMESPACE, containers: ["test", "release", "cleanup"], environment });
}, START_TIMEOUT_MS);

/** What is elsewhere for a hook's process on this machine than for one in a cluster. */
async function environment({ spec }: HookPod): Promise<Readonly<Record<string, string>>> {
  const [container] = spec.containers;
  if (container?.name === "test")
    return { ADDRESS: service ? await service.process.url("admin", "") : "http://127.0.0.1:1" };
  const { hostname, port } = new URL(cluster().server);
  const file = join(release.folder, "hook-token");
  writeFileSync(file, await tokenOf(cluster(), NAMESPACE, spec.serviceAccountName ?? ""));
  const address = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
  return { ...address, TOKEN_FILE: file, NODE_EXTRA_CA_CERTS: cluster().caFile };
}

async function startService(): Promise<ServicePod> {
  return ServicePod.start({
    ...{ cluster: cluster(), namespace: NAMESPACE, name: SERVICE, folder: release.folder },
    main: join(root, "apps/weight-rebalancer/dist/main.mjs"),
    flags: ["--grpc-port=0"],
    env: {},
  });
}

interface Rebalance {
  readonly metadata: {
    readonly finalizers?: readonly string[];
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly status?: { readonly condition?: string; readonly desiredValue?: number; readonly actualValue?: number };
}

const rebalance = (name: string) => get<Rebalance>(cluster(), "rebalance", name, "-n", "shop");

async function settled(name: string, weight: number): Promise<void> {
  await waitUntil(`Rebalance ${name} to have weight ${weight}`, async () => {
    const { status } = await rebalance(name);
    return status?.actualValue === weight ? undefined : `its status is ${JSON.stringify(status)}`;
  });
}

const recordWeight = () => route53.records("Z1").find(({ setIdentifier }) => setIdentifier === "blue")?.weight;

test("helm lint finds no fault in any chart", async () => {
  const all = ["evenkeel", ...serviceCharts(charts)].map((name) => release.chart(name));
  const said = `${all.length} chart(s) linted, 0 chart(s) failed`;
  expect(await release.helm("lint", "--strict", ...all)).toContain(said);
});

test.each([
  ["as it is", []],
  [
    "with everything switched on",
    [
      ...["tls.certManager.issuer=ca", "tls.mtls=true", "replicas=3", "state.redis.url=redis://redis:6379"],
      ...["monitoring.serviceMonitor.enabled=true", "monitoring.rules.enabled=true", "monitoring.board.enabled=true"],
      "settings.watchNamespaces={shop}",
    ],
  ],
  ["without TLS", ["tls.enabled=false"]],
])(
  "what helm template renders is taken by the API server: %s",
  async (_title, values) => {
    const set = ["enabled=true", ...values].flatMap((value) => ["--set", `${SERVICE}.${value}`]);
    const input = await release.helm("template", "evenkeel", release.chart("evenkeel"), "-n", NAMESPACE, ...set);
    const said = await kubectl(
      cluster(),
      ["apply", "--dry-run=server", "--server-side", "--force-conflicts", "-f", "-"],
      { input },
    );
    expect(said).toContain(`deployment.apps/${SERVICE} serverside-applied (server dry run)`);
    expect(said).toContain(`customresourcedefinition.apiextensions.k8s.io/${CRD} serverside-applied (server dry run)`);
  },
  TEST_TIMEOUT_MS,
);

test.each([
  ["two replicas without Redis", ["replicas=2"], "/state/redis"],
  [
    "two replicas that do not elect",
    ["replicas=2", "state.redis.url=redis://r:6379", "settings.leaderElect=false"],
    "/settings/leaderElect",
  ],
  ["a setting that does not exist", ["settings.wrokers=5"], "'wrokers' not allowed"],
  ["a number that is too large", ["settings.route53Rate=11"], "/settings/route53Rate"],
  ["certificates of callers without an authority that is kept", ["tls.mtls=true"], "tls.mtls needs tls.existingSecret"],
])("helm refuses %s", async (_title, values, said) => {
  const set = ["enabled=true", ...values].flatMap((value) => ["--set", `${SERVICE}.${value}`]);
  const { code, stderr } = await release.tryHelm("template", "evenkeel", release.chart("evenkeel"), ...set);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(said) });
});

test(
  "an install over the original's definitions is refused, and with --take-ownership keeps the objects",
  async () => {
    const install = ["install", "evenkeel", release.chart("evenkeel"), "-n", NAMESPACE, ...VALUES];
    const refused = await release.tryHelm(...install);
    expect({ code: refused.code, said: refused.stderr }).toEqual({
      code: 1,
      said: expect.stringContaining("exists and cannot be imported into the current release"),
    });
    const before = await rebalance("before");
    await release.tryHelm("uninstall", ...IN_PLACE, "--ignore-not-found", "--no-hooks");
    await release.helm(...install, "--take-ownership", "--force-conflicts", "--wait", "--timeout", "60s");
    expect((await rebalance("before")).metadata.uid).toBe(before.metadata.uid);
    const crd = await get<Definition>(cluster(), "crd", CRD);
    expect(crd.metadata.annotations).toMatchObject({ "helm.sh/resource-policy": "keep" });
    expect(Object.keys(crd.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties ?? {})).toContain(
      "policy",
    );
  },
  TEST_TIMEOUT_MS,
);

interface Definition {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec: {
    readonly versions: readonly [
      {
        readonly schema: {
          readonly openAPIV3Schema: { readonly properties: { readonly spec: { readonly properties?: object } } };
        };
      },
    ];
  };
}

test(
  "helm test fails while the service does not answer, and passes when it does",
  async () => {
    const dead = await release.tryHelm("test", ...IN_PLACE, "--timeout", "60s");
    expect(dead.code).toBe(1);
    expect(runner.said.at(-1)).toContain("fetch failed");
    service = await startService();
    await service.process.phase("ready");
    await release.helm("test", ...IN_PLACE, "--timeout", "60s");
    expect(runner.said.at(-1)).toBe(`${SERVICE} 0.1.0 answers\n`);
  },
  TEST_TIMEOUT_MS,
);

test(
  "with exactly the chart's account the service moves a record and a route, and sets the record back",
  async () => {
    await apply(
      cluster(),
      recordRebalance("record", "shop", world, { onDelete: "revert" }),
      routeRebalance("route", "shop", world),
    );
    await settled("record", 16);
    await settled("route", 16);
    expect(recordWeight()).toBe(16);
    expect((await rebalance("record")).metadata.finalizers).toEqual(["evenkeel.io/revert-weight"]);
    metric = 4000;
    await settled("record", 24);
    metric = 3000;
    await settled("record", 16);
    metric = 4000;
    await settled("record", 24);
    await kubectl(cluster(), ["delete", "rebalance", "record", "-n", "shop", "--timeout=30s"]);
    expect(recordWeight()).toBe(1);
  },
  TEST_TIMEOUT_MS,
);

test(
  "with exactly the chart's account the service asks who may pause",
  async () => {
    await kubectl(cluster(), ["create", "serviceaccount", "operator", "-n", "shop"]);
    const pause = async () => {
      const headers = {
        "content-type": "application/json",
        authorization: `Bearer ${await tokenOf(cluster(), "shop", "operator")}`,
      };
      const body = JSON.stringify({ rebalance: { namespace: "shop", name: "route" } });
      const address = (await service?.process.url("admin", "/api/v1/Weights/Pause")) ?? "";
      return (await fetch(address, { method: "POST", headers, body })).status;
    };
    expect(await pause()).toBe(403);
    await kubectl(cluster(), ["create", "role", "pause", "-n", "shop", "--verb=patch", `--resource=${CRD}`]);
    await kubectl(cluster(), [
      "create",
      "rolebinding",
      "pause",
      "-n",
      "shop",
      "--role=pause",
      "--serviceaccount=shop:operator",
    ]);
    await waitUntil("the operator to be allowed", async () => {
      const status = await pause();
      return status === 200 ? undefined : `the answer is ${status}`;
    });
    expect((await rebalance("route")).metadata.annotations).toMatchObject({ "evenkeel.io/paused": "true" });
  },
  TEST_TIMEOUT_MS,
);

test(
  "an upgrade keeps the certificate, replaces the pod, and with namespaces to watch grants rights in those alone",
  async () => {
    const certificate = async () =>
      (await get<{ data: object }>(cluster(), "secret", `${SERVICE}-tls`, "-n", NAMESPACE)).data;
    const before = await certificate();
    const from = new Date().toISOString();
    const values = [...VALUES, "--set", `${SERVICE}.settings.watchNamespaces={shop}`];
    await release.helm("upgrade", "evenkeel", release.chart("evenkeel"), "-n", NAMESPACE, ...values);
    expect(await certificate()).toEqual(before);
    await service?.gone();
    upgrade = { from, to: new Date().toISOString() };
    expect((await service?.process.exit)?.code).toBe(0);
    const label = `app.kubernetes.io/name=${SERVICE},app.kubernetes.io/component!=user-roles`;
    const roles = await list<Role>(cluster(), "clusterroles", "-l", label);
    expect([...rightsOf(roles.flatMap(({ rules }) => rules))].sort()).toEqual([
      "create subjectaccessreviews.authorization.k8s.io",
      "create tokenreviews.authentication.k8s.io",
      "list leases.coordination.k8s.io",
    ]);
    service = await startService();
    await service.process.phase("ready");
    metric = 2000;
    await apply(cluster(), recordRebalance("again", "shop", world, { onDelete: "revert" }));
    await settled("again", 8);
    expect(recordWeight()).toBe(8);
  },
  TEST_TIMEOUT_MS,
);

test("by the audit log no right was missing, and none is granted that is not used", async () => {
  const { refused, allowedElsewhere, unused } = await usedRights(cluster(), SERVICE);
  expect(upgrade.from).not.toBe("");
  expect(refused.filter(({ at }) => at < upgrade.from || at > upgrade.to)).toEqual([]);
  expect(allowedElsewhere).toEqual([]);
  expect(unused.filter((right) => !SELDOM_USED.has(right))).toEqual([]);
});

test(
  "an uninstall strands nothing: objects stay, can be deleted, and all else is gone",
  async () => {
    expect((await rebalance("again")).metadata.finalizers).toEqual(["evenkeel.io/revert-weight"]);
    await release.helm("uninstall", ...IN_PLACE, "--timeout", "90s");
    expect((await service?.process.exit)?.code).toBe(0);
    expect(runner.said.at(-1)).toBe("removed evenkeel.io/revert-weight from rebalances shop/again\n");

    const left = [
      "all,serviceaccounts,secrets,configmaps,roles,rolebindings,networkpolicies,poddisruptionbudgets,leases",
    ];
    const named = (await kubectl(cluster(), ["get", ...left, "-n", NAMESPACE, "-o", "name"])).trim().split("\n");
    expect(named.sort()).toEqual(["configmap/kube-root-ca.crt", "serviceaccount/default"]);
    for (const kind of ["clusterroles,clusterrolebindings", "roles,rolebindings"]) {
      const labelled = ["get", kind, "-A", "-l", "app.kubernetes.io/part-of=evenkeel", "-o", "name"];
      expect(await kubectl(cluster(), labelled)).toBe("");
    }
    expect((await list(cluster(), "rebalances", "-n", "shop")).map(({ metadata }) => metadata.name)).toEqual([
      "again",
      "before",
      "route",
    ]);
    await kubectl(cluster(), ["delete", "rebalances", "--all", "-n", "shop", "--timeout=20s"]);
    expect(await list(cluster(), "rebalances", "-n", "shop")).toEqual([]);
  },
  TEST_TIMEOUT_MS,
);
