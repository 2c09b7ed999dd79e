import { endpointSlices } from "@evenkeel/kube";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { type Answer, ask, eventually, World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 1 });
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** The resolver's own slices of a Service. */
async function ownSlices(service: string) {
  const labelSelector = `kubernetes.io/service-name=${service},endpointslice.kubernetes.io/managed-by=scale-resolver.evenkeel.io`;
  return (await world.kube.resource(endpointSlices).list({ namespace: "default", labelSelector })).items;
}

/** How many requests of a Service have come to the resolver, as its metrics say. Fails if they do not say. */
async function requestsSeen(url: string, service: string): Promise<number> {
  const series = `evenkeel_resolver_requests_total{namespace="default",service="${service}"} `;
  const text = await (await fetch(url)).text();
  const line = text.split("\n").find((one) => one.startsWith(series));
  if (line === undefined) throw new Error(`there is no series ${series}`);
  return Number(line.slice(series.length));
}

describe("a service", () => {
  test("that is idle goes to zero, and a request wakes it and is answered", async () => {
    await world.workload("shop");
    const service = world.serve();
    await world.elasti("shop");
    await world.inState("shop", "Serve");
    world.metric = 0;
    const asleep = await world.inState("shop", "Zero");
    expect(await world.replicas("shop")).toBe(0);
    expect(asleep.status).toMatchObject({ mode: "proxy", replicas: 0 });
    expect(asleep.metadata.finalizers).toEqual(["elasti.truefoundry.com/finalizer"]);
    await world.sleeps("shop");

    const answer = await world.ask("shop", { method: "POST", path: "/buy", body: "one" });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatch(/^shop-\S+ POST \/buy one$/);
    expect(answer.headers).toMatchObject({ "x-evenkeel-cold-start": "true" });
    expect(await world.replicas("shop")).toBe(1);
    expect(world.seen).toHaveLength(1);

    world.metric = 5;
    await world.inState("shop", "Serve");
    await eventually(async () => expect(await ownSlices("shop")).toEqual([]));
    expect(service.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("is woken by one call, however many ask at once and however slow the API server is", async () => {
    await world.workload("shop", 0);
    world.serve();
    await world.elasti("shop", { triggers: undefined });
    for (let burst = 0; burst < 3; burst++) {
      await world.sleeps("shop");
      world.calls.length = 0;
      const end = world.faults.add({
        fault: { kind: "latency", milliseconds: 40 * burst },
        verb: "patch",
        resource: "deployments",
      });
      const answers = await Promise.all(Array.from({ length: 20 }, () => world.ask("shop")));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      await world.inState("shop", "Serve");
      end();
      const scaled = world.calls.filter(
        (call) => call.startsWith("PATCH ") && call.endsWith("/deployments/shop/scale"),
      );
      expect(scaled).toHaveLength(1);
      await world.scale("shop", 0);
    }
  }, 60_000);

  test("that is warm is out of the resolver's path: none of its requests touches it", async () => {
    await world.workload("shop", 0);
    const service = world.serve();
    await world.elasti("shop");
    await world.sleeps("shop");
    expect((await world.ask("shop", { path: "/cold" })).status).toBe(200);
    const { status } = await world.inState("shop", "Serve");
    expect(await ownSlices("shop")).toEqual([]);
    const metrics = await service.url("admin", "/metrics");
    await eventually(async () => expect(await requestsSeen(metrics, "shop")).toBe(1));

    for (let sent = 0; sent < 50; sent++) expect((await world.ask("shop", { path: "/warm" })).status).toBe(200);
    expect(world.seen.filter(({ path }) => path === "/warm")).toHaveLength(50);
    // What is counted is told a moment later: when one that was sent to the resolver itself shows, so would all before it.
    const port = status?.ports?.[0]?.port ?? 0;
    expect((await ask({ host: "127.0.0.1", port }, { path: "/direct" })).status).toBe(200);
    await eventually(async () => expect(await requestsSeen(metrics, "shop")).toBeGreaterThan(1));
    expect(await requestsSeen(metrics, "shop")).toBe(2);
    expect(await ownSlices("shop")).toEqual([]);
  });

  test("has the resolver's endpoints with conditions, labels, an owner and every port while it sleeps", async () => {
    await world.workload("shop");
    world.metric = 0;
    world.serve();
    const object = await world.elasti("shop");
    await world.inState("shop", "Zero");
    const [slice] = await ownSlices("shop");
    const port = (await world.get("shop")).status?.ports?.[0]?.port;
    expect(slice).toMatchObject({
      addressType: "IPv4",
      metadata: { ownerReferences: [{ kind: "ElastiService", name: "shop", uid: object.metadata.uid }] },
      ports: [{ name: "http", port, protocol: "TCP" }],
      endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true, serving: true, terminating: false } }],
    });
  });

  test("that somebody else scales to zero loses no request and sends none to a pod that is gone, and is woken by the next", async () => {
    // For the resolver to hear of it before the pod is gone, however busy the machine is.
    await using world = await World.start({ number: 46, terminationDelay: 3000 });
    await world.workload("shop");
    world.serve();
    await world.elasti("shop", { triggers: undefined });
    await world.inState("shop", "Serve");
    await eventually(() => world.ask("shop"));
    world.seen.length = 0;
    const stop = new AbortController();
    const answers: Answer[] = [];
    const asking = (async () => {
      while (!stop.signal.aborted) answers.push(await world.ask("shop", { path: `/${answers.length}` }));
    })();
    await world.scale("shop", 0);
    await eventually(async () => expect(await world.replicas("shop")).toBe(1));
    await world.inState("shop", "Serve");
    stop.abort();
    await asking;
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(answers.length).toBeGreaterThan(10);
    expect(world.seen.filter(({ late }) => late)).toEqual([]);
  });

  test("stays awake without data, with a busy metric, outside its period, in a dry run and when it is paused", async () => {
    const names = ["silent", "busy", "period", "dry", "paused"];
    for (const name of names) await world.workload(name);
    world.serve();
    world.metric = 0;
    const query = (text: string) => [
      { type: "prometheus", metadata: { query: text, serverAddress: world.prometheus.url, threshold: "0.5" } },
    ];
    world.prometheus.answer("silence", () => ({ kind: "vector", samples: [] }));
    world.prometheus.answer("traffic", () => ({ kind: "vector", samples: [{ metric: {}, value: 1 }] }));
    await world.elasti("silent", { triggers: query("silence") });
    await world.elasti("busy", { triggers: query("traffic") });
    const tomorrow = new Date(Date.now() + 2 * 86_400_000).getUTCDate();
    await world.elasti("period", { enabledPeriod: { schedule: `0 0 ${tomorrow} * *`, duration: "1h" } });
    await world.elasti("dry", { dryRun: true });
    const paused = await world.elasti("paused");
    const annotations = { "evenkeel.io/paused": "true" };
    const body = { metadata: { annotations } };
    await world.kube.resource(elastiServices).patch({ namespace: "default", name: "paused" }, { type: "merge", body });
    expect(paused.metadata.name).toBe("paused");
    const reasons: Readonly<Record<string, string>> = {
      silent: "TriggerUnknown",
      busy: "Busy",
      period: "OutsidePeriod",
      dry: "Idle",
      paused: "Paused",
    };
    for (const name of names) {
      await eventually(async () => {
        const ready = (await world.get(name)).status?.conditions?.find(({ type }) => type === "Ready");
        expect(`${name} ${ready?.reason ?? ""}`).toBe(`${name} ${reasons[name] ?? ""}`);
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 2500));
    for (const name of names) expect([name, await world.replicas(name)]).toEqual([name, 1]);
  });

  test("that is deleted while it sleeps is woken, and everything of it is cleaned up", async () => {
    await world.workload("shop");
    world.metric = 0;
    world.serve();
    await world.elasti("shop");
    await world.inState("shop", "Zero");
    await world.kube.resource(elastiServices).delete({ namespace: "default", name: "shop" });
    await eventually(async () => {
      const { items } = await world.kube.resource(elastiServices).list({ namespace: "default" });
      expect(items).toEqual([]);
    });
    expect(await world.replicas("shop")).toBe(1);
    expect(await ownSlices("shop")).toEqual([]);
    expect((await world.ask("shop")).status).toBe(200);
  });

  test("that sleeps is found asleep by a resolver that starts anew, and is woken by it", async () => {
    await world.workload("shop");
    world.metric = 0;
    const first = world.serve();
    await world.elasti("shop");
    await world.sleeps("shop");
    first.signal("SIGTERM");
    await first.exit;
    world.serve();
    await eventually(async () => expect((await world.ask("shop")).status).toBe(200));
    expect(await world.replicas("shop")).toBe(1);
  });
});
