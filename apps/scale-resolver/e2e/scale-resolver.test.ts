import { Agent } from "node:http";
import { apply, get, kubectl, TEST_TIMEOUT_MS, tokenOf, usedRights, useCluster } from "@evenkeel/e2e";
import { type ServiceProcess } from "@evenkeel/testkit";
import { MetricRegistry } from "@evenkeel/metrics";
import { connectPeer, externalScaler, peerMetrics } from "@evenkeel/rpc";
import { systemClock } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { originalPrivateServiceName, originalSliceName } from "../src/observe/original-names.ts";
import { arrivalIn, ask, Asking, TRAFFIC } from "./ask.ts";
import { elastiService, NAMESPACE, namespaceOf, service, workload } from "./manifests.ts";
import { RolloutFollower } from "./rollout-follower.ts";
import { routeCases } from "./route-cases.ts";
import { CHART, row, Site, Traffic } from "./site.ts";

/*
 * KubeElasti's end-to-end scenarios, and where they are here:
 *
 *   01 enable-proxy-via-manual          "01, 03: …"
 *   02 enable-serve-via-traffic         "02: …", twice: one after the other, and fifty at once; nothing is sent again
 *   03 enable-serve-via-manual          "01, 03: …"
 *   04 public-private-svc-sync          not applicable: there is no private Service. That one of KubeElasti's goes is in "take-over"
 *   05 elasti-crd-remove                "05: …"
 *   06 resolver-endpoint-sync           "06, 08: …"
 *   07 scale-down-with-filter           "07: …"
 *   08 resolver-multiple-endpoints      "06, 08: …"
 *   09 statefulset-serve-via-traffic    "09: …"
 *   10 custom-headers-forwarded         "10: …"
 *   11 probe-response                   "11: …"
 *   12 reused-connection-requests       "12: …"
 *   13 grpc-h2c-support                 "13: …"
 *   14 namespace-scoped                 "14: …"
 */

/** Where the chart is installed for the whole cluster. */
const RELEASE = "resolver";

const ORIGINAL_LEASE = "acf50383.truefoundry.io";

/** Rights that this suite does not use, and why they are granted. */
const NOT_USED_HERE = new Map([
  [
    "list elastiservices.elasti.truefoundry.com",
    "objects are listed where the API server is too old to stream them with the watch",
  ],
  ["list services", "the same"],
  ["create scaledobjects.keda.sh", "a ScaledObject that is asked for is applied: to the audit log that is a patch"],
  [
    "get elastiservices.elasti.truefoundry.com",
    "a finalizer is changed on the object as it is now when somebody else changed it at the same time",
  ],
  ["get scaledobjects.keda.sh", "a ScaledObject is read where KEDA is older than 2.18, by the label of its definition"],
  ["get endpointslices.discovery.k8s.io", "a slice that somebody else wrote at the same time is looked at again"],
]);

let site: Site;

// Before the cluster stops, which is next.
afterAll(async () => {
  await site[Symbol.asyncDispose]();
}, TEST_TIMEOUT_MS);

const cluster = useCluster({ name: "scale-resolver", nodes: 2, audit: true });
const IN = ["-n", NAMESPACE] as const;

beforeAll(async () => {
  site = await Site.start(cluster());
}, TEST_TIMEOUT_MS);

/** Leftovers of KubeElasti for a sleeping service, with its operator's Lease still held. */
async function leaveBehind(name: string): Promise<void> {
  const paused = { "autoscaling.keda.sh/paused": "true", "autoscaling.keda.sh/paused-replicas": "0" };
  const time = `${new Date().toISOString().slice(0, -1)}000Z`;
  await apply(
    cluster(),
    namespaceOf("elasti"),
    {
      ...{
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: ORIGINAL_LEASE, namespace: "elasti" },
      },
      spec: { holderIdentity: "elasti-operator-0_1", leaseDurationSeconds: 600, acquireTime: time, renewTime: time },
    },
    {
      ...{ apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject" },
      ...{ metadata: { name, namespace: NAMESPACE, annotations: paused }, spec: { scaleTargetRef: { name } } },
    },
    workload("Deployment", name, { replicas: 0 }),
    service(name),
    elastiService(name, { autoscaler: { type: "keda", name } }),
  );
  const { apiVersion, kind, metadata } = await site.get(name);
  const ownerReferences = [{ apiVersion, kind, name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }];
  const finalizers = JSON.stringify({ metadata: { finalizers: ["elasti.truefoundry.com/finalizer"] } });
  await kubectl(cluster(), ["patch", "elastiservice", name, ...IN, "--type=merge", "-p", finalizers]);
  const copy = service(name);
  await apply(
    cluster(),
    { ...copy, metadata: { name: originalPrivateServiceName(name), namespace: NAMESPACE, ownerReferences } },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        ...{ name: originalSliceName(name), namespace: NAMESPACE },
        labels: { "kubernetes.io/service-name": name },
      },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.200.254.9"] }],
      ports: [{ name: "http", port: 8012, protocol: "TCP" }],
    },
  );
}

/** How many requests of a service have passed a resolver, by its own count. */
async function requestsSeen(resolver: ServiceProcess, name: string): Promise<number> {
  const text = await (await fetch(await resolver.url("admin", "/metrics"))).text();
  const lines = text
    .split("\n")
    .filter((line) => line.startsWith("evenkeel_resolver_requests_total") && line.includes(`"${name}"`));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

describe("for the whole cluster,", () => {
  let resolver: ServiceProcess;

  beforeAll(async () => {
    await leaveBehind("legacy");
    resolver = await site.serve({ namespace: RELEASE });
    await resolver.phase("ready");
  }, TEST_TIMEOUT_MS);
  afterAll(async () => {
    await resolver[Symbol.asyncDispose]();
  }, TEST_TIMEOUT_MS);

  test(
    "take-over: what KubeElasti left behind is not touched while its operator leads; once it does not, all of it goes, and the sleeping service wakes through this resolver",
    async () => {
      await site.hasReason("legacy", "OriginalRuns");
      const leftovers = [
        "get",
        `endpointslice/${originalSliceName("legacy")}`,
        `service/${originalPrivateServiceName("legacy")}`,
      ];
      await kubectl(cluster(), [...leftovers, ...IN]);
      expect(await site.ownSlices("legacy")).toEqual([]);

      await kubectl(cluster(), ["delete", "lease", ORIGINAL_LEASE, "-n", "elasti"]);
      await site.asleep("legacy");
      expect(await site.inPath("legacy")).toEqual(await site.resolvers(RELEASE));
      await site.until("the leftovers to go", async () => {
        const { stdout, stderr } = await cluster().kubectl([...leftovers, ...IN, "-o", "name"]);
        return stdout === "" && stderr.match(/NotFound/g)?.length === 2 ? undefined : stdout + stderr;
      });
      const url = await site.proxy.url(NAMESPACE, "legacy", 80);
      expect(arrivalIn(await ask(url)).pod).toMatch(/^10\.200\./);
      const { metadata } = await get(cluster(), "scaledobject", "legacy", ...IN);
      expect(metadata).toMatchObject({ annotations: { "autoscaling.keda.sh/paused": "false" } });
      expect(metadata).not.toHaveProperty(["annotations", "autoscaling.keda.sh/paused-replicas"]);
      await site.outOfPath("legacy");
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "an idle Deployment goes to zero behind the resolver's EndpointSlices, a request through its ClusterIP wakes it and is answered by its pod, and deletion leaves nothing behind",
    async () => {
      const traffic = new Traffic(site.prometheus, "target");
      const scaledObject = {
        ...{ apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject" },
        metadata: { name: "target-scaled-object", namespace: NAMESPACE },
        spec: { scaleTargetRef: { name: "target" } },
      };
      await apply(cluster(), scaledObject);
      const url = await site.given("target", {
        triggers: traffic.triggers,
        autoscaler: { type: "keda", name: "target-scaled-object" },
        enabledPeriod: { schedule: "0 0 * * *", duration: "24h" },
        probeResponse: [
          { path: { type: "Exact", value: "/healthz" }, method: "GET", response: { status: 200, body: "ok" } },
        ],
      });
      const [pod] = await site.podsOf("target");
      expect(arrivalIn(await ask(url)).pod).toBe(pod);
      expect(await row(cluster(), "target", ...IN)).toEqual({
        ...{ NAME: "target", SERVICE: "target", STATE: "Serve", READY: "True" },
        ...{ SINCE: expect.stringMatching(/^\d+s$/), AGE: expect.stringMatching(/^\d+s$/) },
      });
      expect(await site.inPath("target")).toEqual([]);

      traffic.rate = 0;
      await site.asleep("target");
      expect(await row(cluster(), "target", "-o", "wide", ...IN)).toMatchObject({ STATE: "Zero", READY: "True" });
      expect(await site.replicas("target")).toBe(0);
      const { metadata, status } = await site.get("target");
      expect(metadata.finalizers).toEqual(["elasti.truefoundry.com/finalizer"]);
      expect(status).toMatchObject({ mode: "proxy", replicas: 0, observedGeneration: 1 });
      const ports = new Map(status?.ports?.map(({ name, port }) => [name, port]));
      expect([...ports.keys()].sort()).toEqual(["grpc", "http"]);
      const [resolverAddress] = await site.resolvers(RELEASE);
      expect(await site.ownSlices("target")).toEqual([
        expect.objectContaining({
          metadata: expect.objectContaining({
            name: "evenkeel-target-ipv4",
            labels: {
              "kubernetes.io/service-name": "target",
              "endpointslice.kubernetes.io/managed-by": "scale-resolver.evenkeel.io",
            },
            ownerReferences: [
              {
                apiVersion: "elasti.truefoundry.com/v1alpha1",
                ...{ kind: "ElastiService", name: "target", uid: metadata.uid },
                ...{ controller: false, blockOwnerDeletion: false },
              },
            ],
          }) as unknown,
          addressType: "IPv4",
          ports: [
            { name: "http", port: ports.get("http"), protocol: "TCP" },
            { name: "grpc", port: ports.get("grpc"), protocol: "TCP" },
          ],
          endpoints: [
            expect.objectContaining({
              addresses: [resolverAddress],
              conditions: { ready: true, serving: true, terminating: false },
              targetRef: expect.objectContaining({ kind: "Pod", namespace: RELEASE }) as unknown,
            }),
          ],
        }),
      ]);
      const annotationsOf = async () =>
        (await get(cluster(), "scaledobject", "target-scaled-object", ...IN)).metadata as { annotations?: object };
      const asleep = await annotationsOf();
      expect(asleep).toMatchObject({ annotations: { "autoscaling.keda.sh/paused": "true" } });
      // With it KEDA would scale the workload itself.
      expect(asleep).not.toHaveProperty(["annotations", "autoscaling.keda.sh/paused-replicas"]);

      const answer = await ask(`${url}/wake`, { body: "one" });
      const arrival = arrivalIn(answer);
      expect(arrival).toMatchObject({ method: "POST", path: "/wake", bytes: 3 });
      expect(await site.podsOf("target")).toEqual([arrival.pod]);
      expect(answer.headers).toMatchObject({ "x-evenkeel-cold-start": "true" });
      expect(site.pods.arrivalsAt("/wake")).toHaveLength(1);
      // Before there is traffic: a busy trigger would be reported instead, if the leader sees both at once.
      await site.until("Events of its transitions", async () => {
        const told = await kubectl(cluster(), ["events", "--for=elastiservice/target", ...IN]);
        // The cause of the wake is only reported if the leader reconciles before a pod is ready, and these are ready at
        // once.
        const missing = [/ Idle /, / Quiet /, / PodsReady /].filter((one) => !one.test(told));
        return missing.length === 0 ? undefined : `${missing.join()} in ${told}`;
      });
      traffic.rate = 5;
      await site.outOfPath("target");
      expect(await annotationsOf()).toMatchObject({ annotations: { "autoscaling.keda.sh/paused": "false" } });

      traffic.rate = 0;
      await site.asleep("target");
      await kubectl(cluster(), ["delete", "elastiservice", "target", ...IN, "--timeout=30s"]);
      expect(await site.ownSlices("target")).toEqual([]);
      expect(await site.replicas("target")).toBe(1);
      expect(await annotationsOf()).toMatchObject({ annotations: { "autoscaling.keda.sh/paused": "false" } });
      expect(await site.podsOf("target")).toEqual([arrivalIn(await ask(url)).pod]);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "01, 03: a Deployment that somebody scales to zero is redirected to the resolver without a request, and scaled up again it is served by its pods",
    async () => {
      await site.given("by-hand");
      await site.hasReason("by-hand", "NoTrigger");
      await site.sleepByHand("by-hand");
      expect(await site.inPath("by-hand")).toEqual(await site.resolvers(RELEASE));
      expect((await site.get("by-hand")).status).toMatchObject({ mode: "proxy", replicas: 0 });

      await kubectl(cluster(), ["scale", "deployment/by-hand", ...IN, "--replicas=2"]);
      await site.outOfPath("by-hand");
      expect(await site.replicas("by-hand")).toBe(2);
      const url = await site.proxy.url(NAMESPACE, "by-hand", 80);
      expect(await site.podsOf("by-hand")).toContain(arrivalIn(await ask(url)).pod);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent.each([
    {
      sent: "five after each other",
      count: 5,
      send: async (once: () => Promise<string>) => {
        const pods: string[] = [];
        for (let sent = 0; sent < 5; sent++) pods.push(await once());
        return pods;
      },
    },
    {
      sent: "fifty at once",
      count: 50,
      send: (once: () => Promise<string>) => Promise.all(Array.from({ length: 50 }, once)),
    },
  ])(
    "02: requests wake a sleeping service and are answered in full, each sent once, $sent: small, of 1 MiB, dripping, and streamed without a length",
    async ({ count, send }) => {
      const kinds = Object.entries(TRAFFIC).map(([kind, traffic]) => ({ name: `traffic-${kind}-${count}`, traffic }));
      const services = await Promise.all(kinds.map(async (kind) => ({ ...kind, url: await site.given(kind.name) })));
      await site.sleepByHand(...services.map(({ name }) => name));
      await Promise.all(
        services.map(async ({ name, traffic, url }) => {
          const pods = await send(async () => String((await traffic(url)).headers["x-pod"]));
          expect(pods).toHaveLength(count);
          expect([...new Set(pods)]).toEqual(await site.podsOf(name));
          await site.outOfPath(name);
        }),
      );
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "05: an ElastiService that is removed leaves a Service that serves, and no trace on it",
    async () => {
      const url = await site.given("removed");
      await kubectl(cluster(), ["delete", "elastiservice", "removed", ...IN, "--timeout=30s"]);
      expect(await site.ownSlices("removed")).toEqual([]);
      expect(arrivalIn(await ask(url)).pod).toMatch(/^10\.200\./);
      // The Service is no longer managed.
      await kubectl(cluster(), ["scale", "deployment/removed", ...IN, "--replicas=0"]);
      await site.until("connections to be refused", () =>
        ask(url).then(
          ({ status }) => `it answers ${status}`,
          (error: unknown) => (String(error).includes("ECONNREFUSED") ? undefined : String(error)),
        ),
      );
      expect(await site.ownSlices("removed")).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "07: a trigger scales down below its threshold, and not while its metric server is in doubt by the filter that it names",
    async () => {
      const traffic = new Traffic(site.prometheus, "filtered", 'job="prometheus"');
      traffic.up = 0;
      traffic.rate = 0;
      await site.given("filtered", { triggers: traffic.triggers });
      await site.hasReason("filtered", "TriggerUnknown");
      traffic.up = 1;
      traffic.rate = 0.6;
      await site.hasReason("filtered", "Busy");
      expect(await site.replicas("filtered")).toBe(1);
      traffic.rate = 0.4;
      await site.asleep("filtered");
      expect(await site.replicas("filtered")).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "09: a StatefulSet sleeps, and wakes by a request",
    async () => {
      const scaleTargetRef = { apiVersion: "apps/v1", kind: "StatefulSet", name: "stateful" };
      const traffic = new Traffic(site.prometheus, "stateful");
      traffic.rate = 0;
      const spec = { scaleTargetRef, triggers: traffic.triggers };
      await apply(cluster(), workload("StatefulSet", "stateful"), service("stateful"), elastiService("stateful", spec));
      await site.asleep("stateful");
      const url = await site.proxy.url(NAMESPACE, "stateful", 80);
      expect([arrivalIn(await ask(url)).pod]).toEqual(await site.podsOf("stateful"));
      traffic.rate = 5;
      await site.outOfPath("stateful");
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "an Argo Rollout sleeps, and wakes by a request",
    async () => {
      const rollout = {
        ...{ apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" },
        ...{ metadata: { name: "rolled", namespace: NAMESPACE }, spec: { replicas: 1 } },
      };
      const { apiVersion, kind } = rollout;
      const traffic = new Traffic(site.prometheus, "rolled");
      traffic.rate = 0;
      const spec = { scaleTargetRef: { apiVersion, kind, name: "rolled" }, triggers: traffic.triggers };
      await apply(
        cluster(),
        rollout,
        workload("ReplicaSet", "rolled"),
        service("rolled"),
        elastiService("rolled", spec),
      );
      await using argo = new RolloutFollower(site.kube);
      argo.follow("rolled");
      await site.asleep("rolled");
      const url = await site.proxy.url(NAMESPACE, "rolled", 80);
      const { pod } = arrivalIn(await ask(url));
      expect([site.pods.nameAt(pod)]).toEqual(await site.podNames("rolled"));
      traffic.rate = 5;
      await site.outOfPath("rolled");
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "10: headers reach the pod of a service that had to wake as the client sent them",
    async () => {
      const url = await site.given("headers");
      await site.sleepByHand("headers");
      const headers = { host: "shop.example.com", "x-request-id": "7f3", "x-custom": "a, b", cookie: "one=1; two=2" };
      const answer = await ask(`${url}/headers?q=1`, { headers, body: "{}" });
      expect(arrivalIn(answer)).toMatchObject({ path: "/headers?q=1", headers });
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "11: a probe is answered for a sleeping service and does not wake it, and anything else does",
    async () => {
      const url = await site.given("probed", {
        probeResponse: [
          { path: { type: "Exact", value: "/healthz" }, method: "GET", response: { status: 200, body: "asleep" } },
        ],
      });
      expect(arrivalIn(await ask(`${url}/healthz`)).path).toBe("/healthz");
      await site.sleepByHand("probed");
      for (let probe = 0; probe < 5; probe++) {
        expect(await ask(`${url}/healthz`)).toMatchObject({ status: 200, body: "asleep" });
      }
      expect(await site.replicas("probed")).toBe(0);
      expect((await site.get("probed")).status?.state).toBe("Zero");
      expect(arrivalIn(await ask(`${url}/healthz`, { method: "POST" })).method).toBe("POST");
      expect(await site.replicas("probed")).toBe(1);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "12: a client that keeps its connections gets an answer to each request, before, during and after the wake, and is at its pods in the end",
    async () => {
      const url = await site.given("reused");
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const once = async () => arrivalIn(await ask(`${url}/reused`, { agent })).pod;
      try {
        for (let sent = 0; sent < 5; sent++) await once();
        await site.sleepByHand("reused");
        const pod = await once();
        const served = new AbortController();
        const serving = site.outOfPath("reused").finally(() => served.abort());
        while (!served.signal.aborted) expect(await once()).toBe(pod);
        await serving;
        // The connection may have been made while the resolver was in the path: it is closed with its first response
        // after a second.
        let seen = NaN;
        await site.until("a request that does not pass the resolver", async () => {
          seen = await requestsSeen(resolver, "reused");
          expect(await once()).toBe(pod);
          return (await requestsSeen(resolver, "reused")) === seen ? undefined : "it passed the resolver";
        });
        for (let sent = 0; sent < 20; sent++) expect(await once()).toBe(pod);
        expect(await requestsSeen(resolver, "reused")).toBe(seen);
      } finally {
        agent.destroy();
      }
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "13: gRPC over h2c wakes a service: calls, streams, and both at once on one connection that outlives the wake",
    async () => {
      await site.given("greeter");
      const { host } = new URL(await site.proxy.url(NAMESPACE, "greeter", 81));
      const log = silentLog();
      const metrics = new MetricRegistry().register(peerMetrics);
      const connect = () => {
        const common = { name: "greeter", address: host, transport: "insecure", deadline: 30_000 } as const;
        const peer = connectPeer({ ...common, clock: systemClock, log, metrics });
        peer.start();
        return peer;
      };
      const call = async (peer: ReturnType<typeof connect>, name: string) => {
        const client = peer.client(externalScaler.ExternalScalerDefinition);
        const { metricSpecs } = await client.getMetricSpec({ name, namespace: "", scalerMetadata: {} });
        return metricSpecs.map(({ metricName }) => metricName);
      };
      const stream = async (peer: ReturnType<typeof connect>, count: number) => {
        const client = peer.client(externalScaler.ExternalScalerDefinition);
        const results: boolean[] = [];
        const asked = { name: "", namespace: "", scalerMetadata: { count: String(count) } };
        for await (const { result } of client.streamIsActive(asked)) results.push(result);
        return results.length;
      };
      const cold = async (use: (peer: ReturnType<typeof connect>) => Promise<void>) => {
        await site.sleepByHand("greeter");
        const peer = connect();
        try {
          await use(peer);
        } finally {
          peer.stop();
        }
      };

      await cold(async (peer) => expect(await call(peer, "hello")).toEqual(["hello"]));
      await site.outOfPath("greeter");
      await cold(async (peer) => expect(await stream(peer, 100)).toBe(100));
      await site.outOfPath("greeter");
      await cold(async (peer) => {
        const names = Array.from({ length: 10 }, (_, index) => `call-${index}`);
        const calls = Promise.all(names.map((name) => call(peer, name)));
        const streams = Promise.all([10, 20, 30].map((count) => stream(peer, count)));
        expect(await calls).toEqual(names.map((name) => [name]));
        expect(await streams).toEqual([10, 20, 30]);
        await site.outOfPath("greeter");
        expect(await call(peer, "later")).toEqual(["later"]);
        expect(await stream(peer, 5)).toBe(5);
      });
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "manifests that are applied again while it sleeps, as GitOps does, wake it cleanly and find their Service as they left it",
    async () => {
      const url = await site.given("gitops");
      await site.sleepByHand("gitops");
      const manifests = [workload("Deployment", "gitops"), service("gitops"), elastiService("gitops")];
      const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests });
      const applied = await kubectl(cluster(), ["apply", "-f", "-"], { input });
      expect(applied.trim().split("\n").sort()).toEqual([
        "deployment.apps/gitops configured",
        "elastiservice.elasti.truefoundry.com/gitops unchanged",
        "service/gitops unchanged",
      ]);
      const asking = new Asking(url);
      await site.outOfPath("gitops").finally(() => asking.stop());
      expect(asking.failures).toEqual([]);
      expect(await site.replicas("gitops")).toBe(1);
      expect([...new Set(asking.pods)]).toEqual(await site.podsOf("gitops"));
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "a ScaledObject that an ElastiService asks for is made for it, and goes with it",
    async () => {
      await site.given("scaled", { autoscaler: { type: "keda", name: "scaled", create: true, maxReplicas: 7 } });
      const { uid } = (await site.get("scaled")).metadata;
      expect(await get(cluster(), "scaledobject", "scaled", ...IN)).toMatchObject({
        metadata: { ownerReferences: [{ kind: "ElastiService", name: "scaled", uid }] },
        spec: { scaleTargetRef: { name: "scaled" }, minReplicaCount: 0, maxReplicaCount: 7 },
      });
      await kubectl(cluster(), ["delete", "elastiservice", "scaled", ...IN, "--timeout=30s"]);
      await kubectl(cluster(), ["wait", "--for=delete", "scaledobject/scaled", ...IN, "--timeout=30s"]);
    },
    TEST_TIMEOUT_MS,
  );

  routeCases(() => ({ site, cluster: cluster(), home: RELEASE }));

  test.concurrent(
    "Services are selected by their label, each gets an ElastiService of its own, and loses it with the label",
    async () => {
      const labels = { sleepy: "yes" };
      const names = ["chosen-a", "chosen-b"];
      await apply(
        cluster(),
        ...names.flatMap((name) => [workload("Deployment", name), service(name, NAMESPACE, labels)]),
        elastiService("nap", { service: undefined, scaleTargetRef: undefined, selector: { matchLabels: labels } }),
      );
      for (const name of names) await site.inState(`nap-${name}`, "Serve");
      await kubectl(cluster(), ["scale", "deployment/chosen-a", ...IN, "--replicas=0"]);
      await site.inState("nap-chosen-a", "Zero");
      const url = await site.proxy.url(NAMESPACE, "chosen-a", 80);
      expect([arrivalIn(await ask(url)).pod]).toEqual(await site.podsOf("chosen-a"));
      await kubectl(cluster(), ["label", "service", "chosen-b", ...IN, "sleepy-"]);
      await kubectl(cluster(), ["wait", "--for=delete", "elastiservice/nap-chosen-b", ...IN, "--timeout=30s"]);
      await kubectl(cluster(), ["get", "elastiservice", "nap-chosen-a", ...IN]);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "who may change an ElastiService may wake its service, and who may not is refused",
    async () => {
      await site.given("berth");
      await site.sleepByHand("berth");
      await kubectl(cluster(), ["create", "serviceaccount", "operator", ...IN]);
      const headers = {
        "content-type": "application/json",
        authorization: `Bearer ${await tokenOf(cluster(), NAMESPACE, "operator")}`,
      };
      const body = JSON.stringify({ service: { namespace: NAMESPACE, name: "berth" } });
      const wake = async () =>
        (await fetch(await resolver.url("admin", "/api/v1/Resolver/Wake"), { method: "POST", headers, body })).status;
      expect(await wake()).toBe(403);
      expect(await site.replicas("berth")).toBe(0);
      const role = ["--verb=update", "--resource=elastiservices.elasti.truefoundry.com"];
      await kubectl(cluster(), ["create", "role", "wake", ...IN, ...role]);
      const subject = ["--role=wake", `--serviceaccount=${NAMESPACE}:operator`];
      await kubectl(cluster(), ["create", "rolebinding", "wake", ...IN, ...subject]);
      await site.until("the right to be known", async () => {
        const status = await wake();
        return status === 200 ? undefined : `the answer is ${status}`;
      });
      expect(await site.replicas("berth")).toBe(1);
      await site.outOfPath("berth");
    },
    TEST_TIMEOUT_MS,
  );

  // Alone, since its pod has seconds to end.
  test(
    "while clients send requests, kubectl scale --replicas=0 fails none of their requests",
    async () => {
      const url = await site.given("asked", {}, 10);
      const [before] = await site.podNames("asked");
      const asking = new Asking(url);
      try {
        await kubectl(cluster(), ["scale", "deployment/asked", ...IN, "--replicas=0"]);
        await site.until("another pod in its place", async () => {
          const names = await site.podNames("asked");
          return names.length === 1 && names[0] !== before ? undefined : `${names.join()} after ${before ?? "none"}`;
        });
        await site.outOfPath("asked");
      } finally {
        await asking.stop();
      }
      expect(asking.failures).toEqual([]);
      expect(asking.answers).toBeGreaterThan(50);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "06, 08: the path of a sleeping service follows the resolver's own endpoints, from one to two to one",
    async () => {
      const url = await site.given("followed");
      await site.sleepByHand("followed");
      const resolvers = async (count: number) => {
        await kubectl(cluster(), ["scale", `deployment/${CHART}`, "-n", RELEASE, `--replicas=${count}`]);
        await site.until(`${count} resolvers in the path`, async () => {
          const [path, pods] = [await site.inPath("followed"), await site.resolvers(RELEASE)];
          return pods.length === count && path.join() === pods.join() ? undefined : `${path.join()} of ${pods.join()}`;
        });
      };
      await resolvers(2);
      await resolvers(1);
      await resolvers(2);
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask(url)));
      expect(new Set(answers.map((answer) => arrivalIn(answer).pod)).size).toBe(1);
      await kubectl(cluster(), ["scale", `deployment/${CHART}`, "-n", RELEASE, "--replicas=1"]);
      await site.outOfPath("followed");
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "told to end, it ends in good order, and there was no error in its log",
    async () => {
      resolver.signal("SIGTERM");
      expect((await resolver.exit).code).toBe(0);
      expect(resolver.lines.filter(({ level }) => level === "error" || level === "fatal")).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );
});

describe("14: with a Role in its own namespace and no rights outside,", () => {
  const TENANT = "tenant";

  test(
    "a service there sleeps and wakes, and one elsewhere is nobody's",
    async () => {
      await apply(cluster(), namespaceOf(TENANT));
      await using resolver = await site.serve({
        namespace: TENANT,
        values: [`settings.watchNamespaces={${TENANT}}`, "rbac.clusterScoped=false"],
        flags: [`--watch-namespaces=${TENANT}`],
      });
      await resolver.phase("ready");
      expect(await kubectl(cluster(), ["get", "clusterrolebindings", "-o", "name"])).not.toContain(`${TENANT}:`);
      const traffic = new Traffic(site.prometheus, "scoped");
      traffic.rate = 0;
      const spec = { triggers: traffic.triggers };
      await apply(
        cluster(),
        ...[NAMESPACE, TENANT].flatMap((namespace) => [
          workload("Deployment", "scoped", { namespace }),
          service("scoped", namespace),
          elastiService("scoped", spec, namespace),
        ]),
      );
      await site.asleep("scoped", TENANT);
      const url = await site.proxy.url(TENANT, "scoped", 80);
      expect([arrivalIn(await ask(url)).pod]).toEqual(await site.podsOf("scoped", TENANT));
      traffic.rate = 5;
      await site.outOfPath("scoped", TENANT);
      expect((await site.get("scoped", NAMESPACE)).status).toBeUndefined();
      expect(await site.replicas("scoped", NAMESPACE)).toBe(1);
    },
    TEST_TIMEOUT_MS,
  );
});

test("by the audit log of all this, the chart's account has no right that it does not use, and was refused none but the look at Leases where it has a Role alone", async () => {
  const { refused, allowedElsewhere, unused } = await usedRights(cluster(), CHART);
  expect(allowedElsewhere).toEqual([]);
  expect([...new Set(refused.map(({ right }) => right))]).toEqual(["list leases.coordination.k8s.io"]);
  expect(unused.filter((right) => !NOT_USED_HERE.has(right))).toEqual([]);
});
