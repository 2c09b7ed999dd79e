import { type ClientRequest, request } from "node:http";
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
  usedRights,
  useCluster,
} from "@evenkeel/e2e";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { charts, serviceCharts } from "../src/index.ts";
import { type Exposed, metricIn, sumOf } from "./exposition.ts";
import { Redis } from "./redis.ts";
import { Release } from "../src/release.ts";

// The tests of this file are the life of one release, in order: each goes on from where the one before left off.

const root = join(import.meta.dirname, "../../..");
const NAMESPACE = "evenkeel-system";
const SERVICE = "scale-resolver";
const IN = ["-n", NAMESPACE] as const;
const REPLICAS = 2;
const REQUESTS_PORT = 8913;
const VALUES = [
  ...serviceCharts(charts).map((service) => `${service}.enabled=${String(service === SERVICE)}`),
  ...[`replicas=${REPLICAS}`, "state.redis.existingSecret=redis", "autoscaling.enabled=true"].map(ofService),
  ...["shutdown.delaySeconds=0", "shutdown.drainSeconds=1"].map(ofService),
  // Nothing leads to pods here, so that no probe would come back.
  ...["pathProbe=false", "warmUp=0s", `port=${REQUESTS_PORT}`, "portRange=22970-22979"].map((setting) =>
    ofService(`settings.${setting}`),
  ),
].flatMap((value) => ["--set", value]);

function ofService(value: string): string {
  return `${SERVICE}.${value}`;
}

interface Autoscaler {
  readonly spec: {
    readonly scaleTargetRef: { readonly apiVersion: string; readonly kind: string; readonly name: string };
    readonly minReplicas: number;
    readonly maxReplicas: number;
    readonly metrics: readonly {
      readonly type: string;
      readonly pods: {
        readonly metric: {
          readonly name: string;
          readonly selector?: { readonly matchLabels: Readonly<Record<string, string>> };
        };
        readonly target: { readonly type: string; readonly averageValue: string };
      };
    }[];
  };
  readonly status?: {
    readonly currentReplicas?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  };
}

/** A replica at an address of loopback that is its own: the ports are the same on all. */
interface Replica {
  readonly address: string;
  readonly pod: ServicePod;
}

let release: Release;
let redis: Redis;
const replicas: Replica[] = [];
const held: ClientRequest[] = [];

// Hooks that end things run in the order in which they are written, and the cluster goes last.
afterAll(async () => {
  for (const one of held) one.destroy();
  for (const { pod } of replicas) await pod[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
  release[Symbol.dispose]();
}, TEST_TIMEOUT_MS);

const cluster = useCluster({ name: "charts-replicas", nodes: 2, audit: true });

beforeAll(async () => {
  release = await Release.prepare(cluster());
  redis = await Redis.start();
  for (const namespace of ["shop", NAMESPACE]) await kubectl(cluster(), ["create", "namespace", namespace]);
  const restricted = "pod-security.kubernetes.io/enforce=restricted";
  await kubectl(cluster(), ["label", "namespace", NAMESPACE, restricted]);
  await kubectl(cluster(), ["create", "secret", "generic", "redis", `--from-literal=url=${redis.url}`, ...IN]);
}, START_TIMEOUT_MS);

const autoscaler = () => get<Autoscaler>(cluster(), "hpa", SERVICE, ...IN);
const podNames = async () =>
  (await list(cluster(), "pods", ...IN, "-l", `app.kubernetes.io/name=${SERVICE}`)).map(
    ({ metadata }) => metadata.name,
  );

async function metrics({ address, pod }: Replica): Promise<string> {
  const { ports } = (await pod.process.phase("ready")) as { ports: Record<string, number> };
  return (await fetch(`http://${address}:${ports["admin"] ?? 0}/metrics`)).text();
}

async function exposed(replica: Replica, name: string): Promise<Exposed> {
  return metricIn(await metrics(replica), name) ?? { type: "none", series: [] };
}

const isLeading = async (replica: Replica) =>
  sumOf(await exposed(replica, "leader_election_master_status"), { name: SERVICE }) === 1;

/** The one that leads and the one that does not. */
async function roles(): Promise<readonly [Replica, Replica]> {
  const leading = await Promise.all(replicas.map(isLeading));
  const [leader, other] = [replicas[leading.indexOf(true)], replicas[leading.indexOf(false)]];
  if (!leader || !other) throw new Error(`who leads: ${leading.join()}`);
  return [leader, other];
}

/** A workload at zero whose pods find no node, so that requests wait for it for as long as a test likes. */
function web(): readonly object[] {
  const labels = { app: "web" };
  const metadata = { namespace: "shop", name: "web" };
  const spec = {
    containers: [{ name: "main", image: "images.invalid/web:1" }],
    nodeSelector: { "example.com/nowhere": "true" },
  };
  return [
    {
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata },
      spec: { replicas: 0, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
    { apiVersion: "v1", kind: "Service", metadata, spec: { selector: labels, ports: [{ name: "http", port: 80 }] } },
    {
      ...{ apiVersion: "elasti.truefoundry.com/v1alpha1", kind: "ElastiService", metadata },
      spec: { service: "web", scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
    },
  ];
}

/** Sends requests that wait, to the port of the Service. */
function hold({ address }: Replica, port: number, count: number): void {
  for (let one = 0; one < count; one++) {
    const asked = request({ host: address, port, agent: false });
    asked.on("error", () => undefined).end();
    held.push(asked);
  }
}

test(
  "the values for many replicas are taken by the API server, and its controllers follow them: replicas by the HorizontalPodAutoscaler, and a disruption of one at a time",
  async () => {
    await release.helm("install", "evenkeel", release.chart("evenkeel"), ...IN, ...VALUES);
    const { spec } = await autoscaler();
    expect(spec).toMatchObject({ minReplicas: REPLICAS, maxReplicas: 6 });
    expect(spec.scaleTargetRef).toEqual({ apiVersion: "apps/v1", kind: "Deployment", name: SERVICE });
    await waitUntil("the autoscaler to find what it scales, and to have it at its least", async () => {
      const { status } = await autoscaler();
      const isAble = status?.conditions?.some(({ type, status: is }) => type === "AbleToScale" && is === "True");
      const pods = await podNames();
      return isAble && pods.length === REPLICAS ? undefined : JSON.stringify({ status, pods });
    });
    await waitUntil("the budget to count the replicas", async () => {
      const { status } = await get<{ status: object }>(cluster(), "pdb", SERVICE, ...IN);
      const wanted = { expectedPods: REPLICAS, currentHealthy: REPLICAS, desiredHealthy: 1, disruptionsAllowed: 1 };
      const isSo = Object.entries(wanted).every(([key, value]) => Reflect.get(status, key) === value);
      return isSo ? undefined : JSON.stringify(status);
    });
  },
  TEST_TIMEOUT_MS,
);

test(
  "two replicas run on one Redis with what the chart gives their pods, and one of them leads",
  async () => {
    for (const [index, pod] of (await podNames()).entries()) {
      const address = `127.0.0.${index + 1}`;
      const started = await ServicePod.start({
        ...{ cluster: cluster(), namespace: NAMESPACE, name: SERVICE, folder: release.folder, pod },
        main: join(root, `apps/${SERVICE}/dist/main.mjs`),
        flags: [`--listen-host=${address}`],
        env: {},
      });
      replicas.push({ address, pod: started });
    }
    await Promise.all(replicas.map(({ pod }) => pod.process.phase("ready")));
    await waitUntil("a leader", () => roles().then(() => undefined, String));
    const [leader, other] = await roles();
    const lease = await get<{ spec: { holderIdentity: string } }>(cluster(), "lease", SERVICE, ...IN);
    expect(lease.spec.holderIdentity.startsWith(leader.pod.pod)).toBe(true);
    expect(await isLeading(other)).toBe(false);
    const available = replicas.map(async (one) => sumOf(await exposed(one, "evenkeel_state_available")));
    expect(await Promise.all(available)).toEqual([1, 1]);
  },
  TEST_TIMEOUT_MS,
);

test(
  "what the autoscaler asks for are gauges that each replica exports, and they count what waits and what is open there",
  async () => {
    await apply(cluster(), ...web());
    let port = 0;
    await waitUntil("the workload to be seen asleep", async () => {
      const { status } = await get<{ status?: { state?: string; ports?: readonly { port: number }[] } }>(
        ...([cluster(), "elastiservice", "web", "-n", "shop"] as const),
      );
      port = status?.ports?.[0]?.port ?? 0;
      return status?.state === "Zero" && port !== 0 ? undefined : JSON.stringify(status ?? null);
    });
    const [leader, other] = await roles();
    hold(leader, port, 2);
    hold(other, port, 3);
    const [waiting, open] = (await autoscaler()).spec.metrics.map(({ type, pods: { metric, target } }) => {
      expect([type, target.type]).toEqual(["Pods", "AverageValue"]);
      return { name: metric.name, labels: metric.selector?.matchLabels ?? {} };
    });
    if (!waiting || !open) throw new Error("it asks for two");
    const counts = (metric: typeof waiting) =>
      Promise.all([leader, other].map(async (one) => sumOf(await exposed(one, metric.name), metric.labels)));
    await waitUntil("all to wait", async () => {
      const [pending, clients] = [await counts(waiting), await counts(open)];
      return pending.join() === "2,3" && clients.join() === "2,3" ? undefined : JSON.stringify({ pending, clients });
    });
    for (const replica of replicas) {
      for (const { name } of [waiting, open]) expect((await exposed(replica, name)).type).toBe("gauge");
    }
  },
  TEST_TIMEOUT_MS,
);

test(
  "the leader knows through Redis of all that wait, and when its pod is deleted the other leads and holds what it has",
  async () => {
    const [leader, other] = await roles();
    const pending = async ({ address, pod }: Replica) => {
      const { ports } = (await pod.process.phase("ready")) as { ports: Record<string, number> };
      const url = `http://${address}:${ports["admin"] ?? 0}/api/v1/Resolver/Activity`;
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ namespace: "shop", name: "web" });
      const answer = await (await fetch(url, { method: "POST", headers, body })).json();
      const { services = [] } = answer as { services?: readonly { pending?: string }[] };
      return services[0]?.pending;
    };
    await waitUntil("the leader to know of the five", async () => {
      const known = await pending(leader);
      return Number(known) === 5 ? undefined : `it knows of ${String(known)}`;
    });
    await kubectl(cluster(), ["delete", "pod", leader.pod.pod, ...IN, "--wait=false"]);
    expect((await leader.pod.process.exit).code).toBe(0);
    await waitUntil("the other to lead", async () => ((await isLeading(other)) ? undefined : "it does not"));
    expect(sumOf(await exposed(other, "evenkeel_resolver_pending"))).toBe(3);
    const { refused, allowedElsewhere } = await usedRights(cluster(), SERVICE);
    expect({ refused, allowedElsewhere }).toEqual({ refused: [], allowedElsewhere: [] });
  },
  TEST_TIMEOUT_MS,
);
