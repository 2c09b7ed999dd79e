import { deployments, endpointSlices, pods, services } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import type { ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { metricOf } from "./admin-api.ts";
import { ApiServerLink } from "./api-server-link.ts";
import { times, World } from "./world.ts";

jest.setTimeout(60_000);

let world: World;
let service: ServiceProcess;
beforeAll(async () => {
  world = await World.start();
  service = world.serve();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

test.concurrent(
  "an API server that is down when requests arrive for a sleeping service keeps them waiting, and none is lost when it is back",
  async () => {
    await using world = await World.start();
    await using link = await ApiServerLink.to(world);
    const service = world.serve([link.flag]);
    await world.asleep("shop");
    link.cut();
    const answers = world.askAll("shop", 50, { method: "POST" });
    const metrics = await service.url("admin", "/metrics");
    const failed = () => metricOf(metrics, "elasti_resolver_operator_rpc_count", { error: "failed" });
    await eventually(async () => expect(await failed()).toBeGreaterThanOrEqual(3));
    expect(await world.replicas("shop")).toBe(0);
    expect(world.received).toEqual([]);
    link.restore();
    expect(await answers).toEqual(times(50, 200));
    expect(world.received).toHaveLength(50);
    world.traffic.set("shop", 5);
    await world.inState("shop", "Serve");
    expect(service.lines.filter(({ phase }) => phase === "ready")).toHaveLength(1);
  },
);

test.concurrent("an API server that is down when the pod gets ready delays the answers, and loses none", async () => {
  await using world = await World.start();
  await using link = await ApiServerLink.to(world);
  world.serve([link.flag]);
  await world.asleep("shop");
  const answers = world.askAll("shop", 50);
  await world.isScaledTo("shop", 1);
  link.cut();
  await eventually(async () => {
    const { items } = await world.kube.resource(pods).list({ namespace: "default" });
    expect(items[0]?.status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
  });
  link.restore();
  expect(await answers).toEqual(times(50, 200));
});

test.concurrent(
  "an API server that is down and answers watches with 410 is listed again, and a request wakes the service as before",
  async () => {
    await using world = await World.start();
    await using link = await ApiServerLink.to(world);
    world.serve([link.flag]);
    await world.asleep("shop");
    world.faults.add({ fault: { kind: "status", code: 410 }, verb: "watch", times: 6 });
    link.break();
    expect((await world.ask("shop")).status).toBe(200);
    world.traffic.set("shop", 5);
    await world.inState("shop", "Serve");
  },
);

test.concurrent(
  "an API server that is down for some calls of a wake, with 503, hangs and broken connections, is called until it answers",
  async () => {
    await world.asleep("failing");
    const calls = { verb: "patch", resource: "deployments", name: "failing" } as const;
    const ends = [
      world.faults.add({ fault: { kind: "status", code: 503 }, ...calls, times: 2 }),
      world.faults.add({ fault: { kind: "reset" }, ...calls, times: 2 }),
      world.faults.add({ fault: { kind: "hang" }, ...calls, times: 1 }),
    ];
    expect((await world.ask("failing")).status).toBe(200);
    for (const end of ends) end();
    world.traffic.set("failing", 5);
    await world.inState("failing", "Serve");
  },
);

test.concurrent(
  "an API server that is down for a workload does not delay the redirect of its Service when the last pod terminates",
  async () => {
    await using world = await World.start({ terminationDelay: 60_000 });
    await world.workload("shop");
    await eventually(() => world.ask("shop"));
    await world.scale("shop", 0);
    const end = world.faults.add({ fault: { kind: "hang" }, verb: "get", resource: "deployments" });
    world.serve();
    await world.elasti("shop", { triggers: undefined });
    await eventually(async () => expect(await world.resolverSlices("shop")).toHaveLength(1));
    end();
  },
);

test.concurrent(
  "an API server that is down for EndpointSlices keeps the service awake, and its slice is written when it can be",
  async () => {
    await using world = await World.start();
    await world.workload("shop");
    const end = world.faults.add({ fault: { kind: "status", code: 500 }, verb: "create", resource: "endpointslices" });
    // The sim's own controller does not use this API.
    await eventually(() => world.ask("shop"));
    world.traffic.set("shop", 0);
    world.serve();
    await world.elasti("shop");
    expect(await world.ready("shop", "Failed")).toMatchObject({ status: "False" });
    expect(await world.replicas("shop")).toBe(1);
    end();
    await world.inState("shop", "Zero", 30_000);
  },
);

test.concurrent(
  "an API server that refuses to change EndpointSlices when the last pod vanishes has no request refused: they wait for the next pod",
  async () => {
    await using world = await World.start({ startDelay: 1000, terminationDelay: 0 });
    const service = world.serve();
    await world.workload("shop");
    await eventually(() => world.ask("shop"));
    await world.elasti("shop", { triggers: undefined });
    await eventually(async () => expect(await world.ownSlices("shop")).toHaveLength(1));
    expect(await world.resolverSlices("shop")).toEqual([]);
    world.faults.add({ fault: { kind: "status", code: 500 }, verb: "update", resource: "endpointslices" });
    const pod = { namespace: "default", labelSelector: "app=shop" };
    const [first] = (await world.kube.resource(pods).list(pod)).items;
    await world.kube.resource(pods).delete({ namespace: "default", name: first?.metadata.name ?? "" });
    await eventually(async () => {
      const { items } = await world.kube.resource(pods).list(pod);
      expect(items.map(({ metadata }) => metadata.uid)).not.toContain(first?.metadata.uid);
    });
    expect(await world.askAll("shop", 20)).toEqual(times(20, 200));
    expect(await world.resolverSlices("shop")).toEqual([]);
    const metrics = await service.url("admin", "/metrics");
    // Those that are sent after the next pod is ready do not pass the resolver.
    expect(await metricOf(metrics, "evenkeel_resolver_requests_total", { service: "shop" })).toBeGreaterThan(0);
  },
);

test.concurrent(
  "an API server that refuses one of two EndpointSlices of a redirect is not asked without pause",
  async () => {
    await using world = await World.start({ terminationDelay: 0 });
    world.serve(["--pod-ip=127.0.0.1,::1"]);
    await world.workload("shop");
    await world.elasti("shop", { triggers: undefined });
    await eventually(async () => expect(await world.ownSlices("shop")).toHaveLength(1));
    world.faults.add({ fault: { kind: "status", code: 403 }, verb: "create", resource: "endpointslices" });
    const body = { spec: { ipFamilies: ["IPv4", "IPv6"] } };
    await world.kube.resource(services).patch({ namespace: "default", name: "shop" }, { type: "merge", body });
    await world.scale("shop", 0);
    await world.isEmpty("shop");
    await eventually(async () => expect(await world.resolverSlices("shop")).toHaveLength(1));
    let before = -1;
    const hasRested = () => {
      const now = world.calls.filter((call) => call.includes("endpointslices")).length;
      const rests = now === before;
      before = now;
      return rests;
    };
    await eventually(hasRested, undefined, 300);
    expect(await world.resolverSlices("shop")).toHaveLength(1);
  },
);

test.concurrent(
  "a service that sleeps and whose EndpointSlice another client deletes has it again at once",
  async () => {
    await world.asleep("unsliced");
    const [slice] = await world.resolverSlices("unsliced");
    const { name = "", uid } = slice?.metadata ?? {};
    await world.kube.resource(endpointSlices).delete({ namespace: "default", name });
    await eventually(async () => {
      const [again] = await world.resolverSlices("unsliced");
      expect(again?.metadata.uid).toBeDefined();
      expect(again?.metadata.uid).not.toBe(uid);
    });
    expect((await world.ask("unsliced")).status).toBe(200);
  },
);

test.concurrent(
  "a service that sleeps and whose EndpointSlice another client writes several times has it corrected each time",
  async () => {
    await world.asleep("contested");
    const [slice] = await world.resolverSlices("contested");
    const { name = "" } = slice?.metadata ?? {};
    const endpoints = [{ addresses: ["127.0.0.9"], conditions: { ready: true } }];
    for (let round = 0; round < 5; round++) {
      const patch = { type: "merge", body: { endpoints } } as const;
      await world.kube.resource(endpointSlices).patch({ namespace: "default", name }, patch);
      await eventually(async () => {
        const [now] = await world.resolverSlices("contested");
        expect(now?.endpoints).toEqual(slice?.endpoints);
      });
    }
    expect((await world.ask("contested")).status).toBe(200);
  },
);

test.concurrent(
  "a service that sleeps and whose ElastiService names another Service is woken and released",
  async () => {
    await world.asleep("former");
    await world.workload("next");
    await world.edit("former", { service: "next", scaleTargetRef: { name: "next" } });
    await world.isScaledTo("former", 1);
    await world.isRestored("former");
    expect((await world.ask("former")).status).toBe(200);
    await world.isScaledTo("next", 0);
    await world.inState("former", "Zero");
    expect(await world.resolverSlices("next")).toHaveLength(1);
    expect(await world.replicas("former")).toBe(1);
    expect((await world.ask("next")).status).toBe(200);
  },
);

test.concurrent(
  "a service that sleeps and whose Service is deleted and created again says so, and is woken by the next request",
  async () => {
    await world.asleep("recreated");
    const at = { namespace: "default", name: "recreated" };
    const resource = world.kube.resource(services);
    const { metadata, spec = {} } = await resource.get(at);
    await resource.delete(at);
    expect((await world.ready("recreated", "ServiceNotFound")).message).toContain("recreated");
    const { labels = {} } = metadata;
    await resource.create({ apiVersion: "v1", kind: "Service", metadata: { ...at, labels }, spec });
    await eventually(async () => expect((await world.ask("recreated")).status).toBe(200));
    expect(await world.replicas("recreated")).toBe(1);
  },
);

test.concurrent(
  "a missing dependency is named in a condition if it is the workload, does not redirect the Service, and is found when it is created",
  async () => {
    await world.workload("missing");
    await world.kube.resource(deployments).delete({ namespace: "default", name: "missing" });
    await world.isEmpty("missing");
    await world.elasti("missing");
    const condition = await world.ready("missing", "TargetNotFound");
    expect(condition).toMatchObject({ status: "False" });
    expect(condition.message).toContain("Deployment");
    expect(condition.message).toContain("missing");
    // As for every Service without pods.
    await expect(world.ask("missing")).rejects.toThrow("connect ECONNRE");

    // It is read at the interval of the triggers, 300 ms, and not in a loop.
    const metrics = await service.url("admin", "/metrics");
    const decisions = () => metricOf(metrics, "evenkeel_decisions_total", { reason: "TargetNotFound" });
    const [before, began] = [await decisions(), performance.now()];
    await eventually(async () => expect((await decisions()) - before).toBeGreaterThanOrEqual(3));
    expect(performance.now() - began).toBeGreaterThan(300);

    await world.deployment("missing", { app: "missing" }, 0);
    await world.inState("missing", "Zero");
    await eventually(async () => expect((await world.ask("missing")).status).toBe(200));
    const drain = (await world.get("missing")).status?.conditions?.find(({ type }) => type === "PodsDrain");
    expect(drain).toMatchObject({ status: "Unknown", reason: "NoPreStop" });
  },
);

test.concurrent("a missing dependency keeps the service awake and ends Guard if it is Prometheus", async () => {
  await using world = await World.start();
  const service = world.serve();
  await world.workload("shop");
  world.traffic.set("shop", 0);
  await world.elasti("shop", { quietPeriod: 4 });
  await world.inState("shop", "Guard");
  await world.prometheus.stop();
  await world.inState("shop", "Serve");
  await world.ready("shop", "TriggerUnknown");
  const metrics = await service.url("admin", "/metrics");
  const unknown = () => metricOf(metrics, "evenkeel_decisions_total", { reason: "TriggerUnknown" });
  const before = await unknown();
  await eventually(async () => expect((await unknown()) - before).toBeGreaterThanOrEqual(3));
  expect((await world.get("shop")).status?.state).toBe("Serve");
  expect(await world.replicas("shop")).toBe(1);
});
