import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  apply,
  applyDefinitions,
  chartAccount,
  get,
  kubectl,
  type KubeObject,
  list,
  TEST_TIMEOUT_MS,
  usedRights,
  useCluster,
} from "@evenkeel/e2e";
import { eventually } from "@evenkeel/runtime/testing";
import { definitionOf, ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { HOSTILE_JOBS, longConfiguration, METADATA_JOB, SLOW_JOB } from "./hostile-objects.ts";
import { originalSet } from "./original-set.ts";

const CHART = "collector-scheduler";
const main = join(import.meta.dirname, "../dist/main.mjs");
const samples = readFileSync(join(import.meta.dirname, "original-samples.yaml"), "utf8");
const cluster = useCluster({ name: CHART, nodes: { count: 1, cpu: "8", memory: "16Gi" }, audit: true });

/** Rights that an ordinary run need not use, and why they are granted. */
const SELDOM_USED = new Map([
  ["get collectorloadbalancers.otel.k8s.aws", "the status is written to the object as it is now after a conflict"],
  ["patch collectorloadbalancers.otel.k8s.aws", "pause and resume are called by users"],
  ["create tokenreviews.authentication.k8s.io", "pause and resume are called by users"],
  ["create subjectaccessreviews.authorization.k8s.io", "pause and resume are called by users"],
  ["patch events.events.k8s.io", "an Event that repeats is counted, not created again"],
]);
/** Only jobs that discover such objects, or attach their metadata, follow them. */
const DISCOVERED = /^(list|watch) (services|endpoints|endpointslices|ingresses|replicasets|jobs|namespaces)\b/;

/** An apply that creates an object needs this right, and is a patch in the audit log. */
const CREATED_BY_APPLY = /^create (configmaps|secrets|serviceaccounts|services|statefulsets)\b/;
const isSeldomUsed = (right: string) =>
  SELDOM_USED.has(right) || DISCOVERED.test(right) || CREATED_BY_APPLY.test(right) || right.startsWith("list ");

let service: ServiceProcess;
/** By which the service is known to the API server. */
let token: string;

beforeAll(async () => {
  await applyDefinitions(cluster(), definitionOf("collectorloadbalancers"));
  const { kubeconfig } = await chartAccount(cluster(), { chart: CHART, namespace: "default" });
  token = /token: "?([^"\n]+)/.exec(readFileSync(kubeconfig, "utf8"))?.[1] ?? "";
  const flags = [`--kubeconfig=${kubeconfig}`, "--insecure", "--grpc-port=0", "--state=sqlite::memory:"];
  service = ServiceProcess.start(main, [...flags, "--interval=1s", "--target-port=0"]);
  await service.phase("ready");
}, TEST_TIMEOUT_MS);

afterAll(async () => service[Symbol.asyncDispose]());

const MANUAL = "collectorloadbalancer-sample";
const SCALED = "collectorloadbalancer-scale";
const TAKEN = "taken";
const HOSTILE = "hostile";

interface StatefulSet {
  readonly metadata: object;
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly name: string; readonly image: string }[] };
    };
  };
  readonly status: object;
}

interface Fleet extends KubeObject {
  readonly spec: { readonly replicas?: number };
  readonly status?: { readonly targets?: number; readonly conditions?: readonly Condition[] };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

const fleet = (name: string) => get<Fleet>(cluster(), "collectorloadbalancer", name);
const conditionOf = async (name: string, type: string) =>
  (await fleet(name)).status?.conditions?.find((condition) => condition.type === type);
const podsOf = async (name: string) =>
  (await list(cluster(), "pods", "-l", `app.kubernetes.io/instance=default__${name}`)).map(
    ({ metadata }) => metadata.name,
  );

async function hasCollectors(name: string, count: number): Promise<void> {
  await eventually(async () => {
    expect((await fleet(name)).status).toMatchObject({
      replicas: count,
      conditions: expect.arrayContaining([expect.objectContaining({ type: "Ready", status: "True" })]),
    });
    expect(await podsOf(name)).toHaveLength(count);
  }, 60_000);
}

const edit = (spec: object) =>
  kubectl(cluster(), ["patch", "collectorloadbalancer", MANUAL, "--type=merge", "-p", JSON.stringify({ spec })]);

test(
  "both samples of the original become collectors, with the rights of the chart",
  async () => {
    await apply(cluster(), ...annotatedPods(4));
    await kubectl(cluster(), ["apply", "-f", "-"], { input: samples });
    await hasCollectors(MANUAL, 3);
    await hasCollectors(SCALED, 1);
    await eventually(async () => expect((await fleet(MANUAL)).status).toMatchObject({ targets: 4 }));
    const pod = `${MANUAL}-collector-0`;
    const url = await service.url("targets", `/collectors/default/${MANUAL}/jobs/k8s-pods/targets?collector_id=${pod}`);
    expect((await fetch(url)).status).toBe(200);
  },
  TEST_TIMEOUT_MS,
);

test(
  "kubectl scale takes collectors from 3 to 5, and to 1 once the others have handed over",
  async () => {
    const scale = (replicas: number) =>
      kubectl(cluster(), ["scale", `--replicas=${replicas}`, `collectorloadbalancers/${MANUAL}`]);
    // An overlap lasts as long as the scrape interval, which is a minute in the sample.
    await edit({ handOver: { policy: "gap" } });
    const stopPolling = polling(MANUAL, 5);
    await scale(5);
    await hasCollectors(MANUAL, 5);
    await scale(1);
    await hasCollectors(MANUAL, 1).finally(stopPolling);
    expect(await podsOf(MANUAL)).toEqual([`${MANUAL}-collector-0`]);
    expect((await fleet(MANUAL)).spec.replicas).toBe(1);
  },
  TEST_TIMEOUT_MS,
);

test(
  "an autoscaler lifts the collectors to its minimum",
  async () => {
    const name = "lifter";
    await apply(cluster(), {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name, namespace: "default" },
      spec: {
        ...{ minReplicas: 2, maxReplicas: 4 },
        scaleTargetRef: { apiVersion: "otel.k8s.aws/v1", kind: "CollectorLoadBalancer", name: MANUAL },
      },
    });
    await hasCollectors(MANUAL, 2);
    expect((await fleet(MANUAL)).spec.replicas).toBe(2);
    await kubectl(cluster(), ["delete", "horizontalpodautoscaler", name]);
  },
  TEST_TIMEOUT_MS,
);

test(
  "a StatefulSet of the original is taken over in place, and its pods keep their names",
  async () => {
    await apply(cluster(), originalSet(TAKEN, 2));
    const names = [0, 1].map((ordinal) => `${TAKEN}-collector-${ordinal}`);
    await eventually(async () => expect(await podsOf(TAKEN)).toEqual(names), 60_000);
    const { uid } = (await get(cluster(), "statefulset", `${TAKEN}-collector`)).metadata;
    const jobs = [{ job_name: "fixed", static_configs: [{ targets: ["a:1", "b:1"] }] }];
    await apply(cluster(), loadBalancer(TAKEN, configuration({}, jobs), 2));
    await eventually(async () => {
      const set = await get<StatefulSet>(cluster(), "statefulset", `${TAKEN}-collector`);
      expect(set.metadata).toMatchObject({ uid, ownerReferences: [{ kind: "CollectorLoadBalancer", name: TAKEN }] });
      expect(set.spec.template.spec.containers.map(({ name, image }) => [name, image])).toEqual([["aoc2", "new:1"]]);
      expect(set.status).toMatchObject({ updatedReplicas: 2, readyReplicas: 2 });
    }, 60_000);
    expect(await podsOf(TAKEN)).toEqual(names);
    await hasCollectors(TAKEN, 2);
  },
  TEST_TIMEOUT_MS,
);

test(
  "what reaches too far is refused with the name of its job, and the token of the service is nowhere",
  async () => {
    const hostile = Object.entries(HOSTILE_JOBS).map(([name, job]) => ({ job_name: name, ...job }));
    const good = { job_name: "good", static_configs: [{ targets: ["a:1"] }] };
    const jobs = [...hostile, METADATA_JOB, SLOW_JOB, good];
    await apply(cluster(), loadBalancer(HOSTILE, configuration({}, jobs), 1));
    const refused = new Set<string>();
    await eventually(async () => {
      const { reason, message = "" } = (await conditionOf(HOSTILE, "ConfigValid")) ?? {};
      expect(reason).toBe("BadField");
      for (const name of Object.keys(HOSTILE_JOBS)) if (message.includes(name)) refused.add(name);
      expect(refused.size).toBeGreaterThanOrEqual(5);
      expect(await conditionOf(HOSTILE, "TargetsDiscovered")).toMatchObject({
        ...{ status: "False", reason: "SourceFailed", message: expect.stringContaining("must not reach") },
      });
    });
    const base = `/collectors/default/${HOSTILE}`;
    const served = await (await fetch(await service.url("targets", `${base}/scrape_configs`))).text();
    expect(Object.keys(JSON.parse(served) as object).sort()).toEqual(["good", "metadata", "slow"]);
    // The source that must not be reached has never answered.
    expect((await fetch(await service.url("targets", `${base}/jobs/metadata/targets?collector_id=a`))).status).toBe(
      503,
    );
    expect((await fetch(await service.url("targets", `${base}/jobs/good/targets`))).status).toBe(200);

    const long = JSON.stringify(loadBalancer(HOSTILE, longConfiguration(1_200_000), 1));
    await kubectl(cluster(), ["replace", "-f", "-"], { input: long });
    await eventually(async () =>
      expect(await conditionOf(HOSTILE, "ConfigValid")).toMatchObject({ status: "False", reason: "Unreadable" }),
    );
    const large = JSON.stringify(loadBalancer("large", longConfiguration(10_000_000), 1));
    const { code, stderr } = await cluster().kubectl(["create", "-f", "-"], { input: large });
    expect([code === 0, stderr]).toEqual([false, expect.stringMatching(/too large|limit/i)]);

    expect(token.length).toBeGreaterThan(100);
    const objects = await kubectl(cluster(), [
      "get",
      "collectorloadbalancers,configmaps,secrets,sts,events",
      "-o",
      "json",
    ]);
    for (const text of [served, objects, JSON.stringify(service.lines)]) {
      expect(text).not.toContain(token);
      expect(text).not.toContain(Buffer.from(token).toString("base64"));
    }
  },
  TEST_TIMEOUT_MS,
);

test(
  "a changed exporter restarts the collectors, a changed job does not",
  async () => {
    const uid = async () => (await get(cluster(), "pod", `${MANUAL}-collector-0`)).metadata.uid;
    const before = await uid();
    const exporters = { debug: { verbosity: "basic" } };
    const pods = { job_name: "k8s-pods", kubernetes_sd_configs: [{ role: "pod" }] };
    await edit({ collectorConfig: configuration(exporters, [pods]) });
    await eventually(async () => expect(await uid()).not.toBe(before), 60_000);
    const rolled = await uid();
    const fixed = { job_name: "fixed", static_configs: [{ targets: ["a:1"] }] };
    await edit({ collectorConfig: configuration(exporters, [pods, fixed]) });
    const url = await service.url("targets", `/collectors/default/${MANUAL}/jobs`);
    await eventually(async () =>
      expect(Object.keys((await (await fetch(url)).json()) as object)).toEqual(["k8s-pods", "fixed"]),
    );
    expect(await uid()).toBe(rolled);
  },
  TEST_TIMEOUT_MS,
);

test(
  "what is deleted leaves nothing, and no right was missing or is too much",
  async () => {
    await kubectl(cluster(), ["delete", "collectorloadbalancers", MANUAL, SCALED, TAKEN, HOSTILE]);
    await eventually(async () => {
      for (const kind of ["statefulset", "service", "configmap", "secret", "serviceaccount", "pod"])
        expect(await list(cluster(), kind, "-l", "app.kubernetes.io/managed-by=collector-load-balancer")).toEqual([]);
    }, 60_000);
    const { refused, allowedElsewhere, unused } = await usedRights(cluster(), CHART);
    expect({ refused, allowedElsewhere }).toEqual({ refused: [], allowedElsewhere: [] });
    expect(unused.filter((right) => !isSeldomUsed(right))).toEqual([]);
  },
  TEST_TIMEOUT_MS,
);

function configuration(exporters: object, jobs: readonly object[]): string {
  return JSON.stringify({ receivers: { prometheus: { config: { scrape_configs: jobs } } }, exporters });
}

function loadBalancer(name: string, collectorConfig: string, replicas: number): object {
  return {
    apiVersion: "otel.k8s.aws/v1",
    kind: "CollectorLoadBalancer",
    metadata: { name, namespace: "default" },
    spec: { replicas, collectorImage: "new:1", collectorConfig },
  };
}

/** Pods that the first sample keeps by their annotation. */
function annotatedPods(count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `app-${index}`, namespace: "default", annotations: { "prometheus.io/scrape": "true" } },
    spec: { containers: [{ name: "main", image: "app:1", ports: [{ containerPort: 80 }] }] },
  }));
}

/** Asks in the names of collectors, in whose pods nothing runs, so that hand-overs go on. */
function polling(name: string, count: number): () => void {
  const ask = async () => {
    for (let index = 0; index < count; index++) {
      const query = `collector_id=${name}-collector-${index}`;
      const url = await service.url("targets", `/collectors/default/${name}/jobs/k8s-pods/targets?${query}`);
      await fetch(url, { headers: { "x-prometheus-refresh-interval-seconds": "1" } });
    }
  };
  const timer = setInterval(() => void ask().catch(() => undefined), 500);
  return () => clearInterval(timer);
}
