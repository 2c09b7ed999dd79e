import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type KubeObject, type ResourceTypeOf } from "@evenkeel/kube";
import { describeRedis } from "@evenkeel/state-contract";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { CONCURRENCY, REQUEST_RATE } from "../src/serve/external-scaler.ts";
import { CallFailed, KedaClient, type Reference, wholeFields } from "./keda-client.ts";
import { Pair } from "./pair.ts";
import { ask, eventually, World } from "./world.ts";

interface ScaledObject extends KubeObject {
  readonly spec?: unknown;
}

const scaledObjects: ResourceTypeOf<ScaledObject> = {
  ...{ group: "keda.sh", version: "v1alpha1", kind: "ScaledObject", plural: "scaledobjects", namespaced: true },
};

/** How KEDA names a ScaledObject to its scaler: with all metadata of the trigger. */
function referenceTo(name: string, metadata: Readonly<Record<string, string>> = {}): Reference {
  return { name, namespace: "default", scalerMetadata: { scalerAddress: "scale-resolver.default:9090", ...metadata } };
}

async function scalerDefinition(): Promise<string> {
  return readFile(join(import.meta.dirname, "fixtures/scaledobjects.yaml"), "utf8");
}

describeRedis("two replicas behind KEDA", () => {
  let world: World;
  let pair: Pair;
  let clients: readonly [KedaClient, KedaClient];
  let turn = 0;

  beforeAll(async () => {
    world = await World.start({ number: 24 });
    world.api.load(await scalerDefinition());
    pair = await Pair.start(world);
    clients = [new KedaClient(await pair.door(pair.a, "grpc")), new KedaClient(await pair.door(pair.b, "grpc"))];
  }, 60_000);
  afterAll(async () => {
    for (const client of clients) await client[Symbol.asyncDispose]();
    await pair[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  /** The next replica, as KEDA's round robin has it. */
  const next = () => clients[(turn += 1) % 2] as KedaClient;
  const fromBoth = <T>(ask: (client: KedaClient) => Promise<T>) => Promise.all(clients.map(ask));

  /** A service of its own metric, so that tests beside each other do not meet. */
  async function service(name: string, idle: boolean, change: Readonly<Record<string, unknown>> = {}) {
    const metric = { value: idle ? 0 : 5 };
    world.prometheus.answer(`of ${name}`, () => ({ kind: "vector", samples: [{ metric: {}, value: metric.value }] }));
    const metadata = { query: `of ${name}`, serverAddress: world.prometheus.url, threshold: "0.5" };
    await world.workload(name);
    const autoscaler = { type: "keda", name };
    await world.elasti(name, { triggers: [{ type: "prometheus", metadata }], autoscaler, ...change });
    return metric;
  }

  async function asleep(name: string, change: Readonly<Record<string, unknown>> = {}) {
    const metric = await service(name, true, change);
    await world.sleeps(name, 30_000);
    // Who does not lead reads it from the status a moment later.
    await eventually(async () =>
      expect(await fromBoth((client) => client.isActive(referenceTo(name)))).toEqual([false, false]),
    );
    return metric;
  }

  test("answer its calls alike, in its order, asleep and awake", async () => {
    const metric = await asleep("alike");
    const reference = referenceTo("alike", { targetConcurrency: "10", targetRequestRate: "2.5" });
    const specs = [
      { metricName: CONCURRENCY, targetSize: 10n, targetSizeFloat: 10 },
      { metricName: REQUEST_RATE, targetSize: 3n, targetSizeFloat: 2.5 },
    ];
    expect(await fromBoth((client) => client.metricSpec(reference))).toEqual([specs, specs]);
    // KEDA takes the float only if it is above 0, so that nothing is nothing in both.
    for (let poll = 0; poll < 4; poll++) {
      const client = next();
      const nothing = [{ metricName: CONCURRENCY, metricValue: 0n, metricValueFloat: 0 }];
      expect(await client.metrics(reference, CONCURRENCY)).toEqual(nothing);
      expect(await client.isActive(reference)).toBe(false);
    }
    expect(await next().metrics(reference, "s0-cpu")).toEqual([]);

    metric.value = 5;
    expect((await pair.ask(pair.b, "alike")).status).toBe(200);
    await world.inState("alike", "Serve");
    const held = [{ metricName: CONCURRENCY, metricValue: 10n, metricValueFloat: 10 }];
    for (let poll = 0; poll < 4; poll++) {
      const client = next();
      expect(await client.metrics(reference, CONCURRENCY)).toEqual(held);
      expect(await client.isActive(reference)).toBe(true);
    }
  }, 60_000);

  test("push the first held request within 20 ms, from the one that holds it and from the other", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `edge-${index}`);
    await Promise.all(names.map((name) => asleep(name)));
    const took: { readonly here: number; readonly there: number }[] = [];
    for (const name of names) {
      const [here, there] = clients.map((client) => client.streamIsActive(referenceTo(name)));
      expect((await here?.at(0))?.message).toBe(false);
      expect((await there?.at(0))?.message).toBe(false);
      const place = await pair.place(pair.a, name);
      const sent = performance.now();
      const answer = ask(place);
      const [first, second] = [await here?.at(1), await there?.at(1)];
      expect([first?.message, second?.message]).toEqual([true, true]);
      took.push({ here: (first?.at ?? Infinity) - sent, there: (second?.at ?? Infinity) - sent });
      expect((await answer).status).toBe(200);
      here?.cancel();
      there?.cancel();
    }
    // The machine may be busy with other things at any one of them: the quickest tells how long the way is.
    expect(Math.min(...took.map(({ here }) => here))).toBeLessThan(20);
    expect(Math.min(...took.map(({ there }) => there))).toBeLessThan(20);
  }, 90_000);

  test("say it again until there are replicas, since KEDA drops what it cannot use yet", async () => {
    await asleep("again");
    const name = "again";
    const end = world.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch", resource: "deployments" });
    const stream = next().streamIsActive(referenceTo(name));
    expect((await stream.at(0)).message).toBe(false);
    const answer = pair.ask(pair.b, name);
    const [first, second, third] = [await stream.at(1), await stream.at(2), await stream.at(3)];
    expect([first.message, second.message, third.message]).toEqual([true, true, true]);
    expect(second.at - first.at).toBeGreaterThan(1900);
    expect(third.at - second.at).toBeGreaterThan(1900);
    end();
    expect((await answer).status).toBe(200);
    stream.cancel();
  }, 60_000);

  test("are active at once after a wake of their own, and never inactive until it serves", async () => {
    const metric = await asleep("trap-one");
    const reference = referenceTo("trap-one");
    const streams = clients.map((client) => client.streamIsActive(reference));
    for (const stream of streams) await stream.at(0);
    const answer = pair.ask(pair.a, "trap-one");
    for (const stream of streams) await stream.at(1);
    metric.value = 5;
    const said = new Set<boolean>();
    let polls = 0;
    for (let serves = false; !serves; polls++) {
      for (const active of await fromBoth((client) => client.isActive(reference))) said.add(active);
      serves = (await world.get("trap-one")).status?.state === "Serve";
    }
    expect((await answer).status).toBe(200);
    expect([...said]).toEqual([true]);
    expect(polls).toBeGreaterThan(3);
    expect(await world.replicas("trap-one")).toBe(1);
  }, 60_000);

  test("never let a busy service seem idle that they see nothing of, and ask for as many pods as there are", async () => {
    await service("trap-two", false);
    await world.inState("trap-two", "Serve");
    await world.scale("trap-two", 3);
    const reference = referenceTo("trap-two", { targetConcurrency: "7" });
    const steady = [{ metricName: CONCURRENCY, metricValue: 21n, metricValueFloat: 21 }];
    await eventually(async () =>
      expect(await fromBoth((client) => client.metrics(reference, CONCURRENCY))).toEqual([steady, steady]),
    );
    const until = performance.now() + 2000;
    while (performance.now() < until) {
      expect((await world.ask("trap-two")).status).toBe(200);
      const client = next();
      expect(await client.metrics(reference, CONCURRENCY)).toEqual(steady);
      expect(await client.isActive(reference)).toBe(true);
    }
    expect(await world.replicas("trap-two")).toBe(3);
  }, 60_000);

  test("tell the metrics on a stream as on being asked, and in whole numbers to KEDAs that know no others", async () => {
    await service("old", false);
    await world.inState("old", "Serve");
    const reference = referenceTo("old", { targetConcurrency: "2.5" });
    for (const client of clients) {
      const stream = client.streamMetricSpec(reference);
      expect((await stream.at(0)).message).toEqual(await client.metricSpec(reference));
      stream.cancel();
      // The contract before floats: a name is field 1, a whole number field 2.
      const specs = wholeFields(await client.metricSpecBytes(reference), [1, 2]);
      expect(specs).toEqual([{ 1: CONCURRENCY, 2: 3n }]);
      await eventually(async () => {
        const values = wholeFields(await client.metricsBytes(reference, CONCURRENCY), [1, 2]);
        expect(values).toEqual([{ 1: CONCURRENCY, 2: 3n }]);
      });
    }
  }, 60_000);

  test("know a Service by the trigger's metadata too, and say of what they do not know that they do not", async () => {
    await service("named", false, { autoscaler: undefined });
    await world.inState("named", "Serve");
    expect(await next().isActive(referenceTo("anything", { service: "named" }))).toBe(true);
    for (const reference of [referenceTo("nobody"), referenceTo("anything", { service: "nobody" })]) {
      const failure = await next()
        .isActive(reference)
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(CallFailed);
      expect((failure as CallFailed).end).toMatchObject({ status: 5, code: "EK_RESOLVER_NO_SUCH_SCALED_SERVICE" });
      expect((failure as CallFailed).message).toContain("ScaledJob");
      expect(await next().streamIsActive(reference).end).toMatchObject({ status: 5 });
    }
  }, 60_000);

  test("make the ScaledObject that is asked for, pause it during sleep, and it goes with its ElastiService", async () => {
    const autoscaler = { type: "keda", name: "made-scaler", create: true, maxReplicas: 9, targetConcurrency: 20 };
    const metric = await service("made", false, { autoscaler });
    const at = { namespace: "default", name: "made-scaler" };
    const resource = world.kube.resource(scaledObjects);
    const made = await eventually(() => resource.get(at));
    const { uid } = (await world.get("made")).metadata;
    expect(made.metadata.ownerReferences).toMatchObject([{ kind: "ElastiService", name: "made", uid }]);
    expect(made.spec).toEqual({
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "made" },
      minReplicaCount: 0,
      maxReplicaCount: 9,
      triggers: [
        {
          type: "external-push",
          metadata: {
            scalerAddress: expect.stringMatching(/^scale-resolver\.default:\d+$/),
            service: "made",
            targetConcurrency: "20",
          },
        },
      ],
    });
    metric.value = 0;
    await world.inState("made", "Zero");
    const paused = (await resource.get(at)).metadata.annotations;
    expect(paused).toMatchObject({ "autoscaling.keda.sh/paused": "true", "autoscaling.keda.sh/paused-replicas": "0" });
    metric.value = 5;
    expect((await pair.ask(pair.a, "made")).status).toBe(200);
    await world.inState("made", "Serve");
    await eventually(async () =>
      expect((await resource.get(at)).metadata.annotations).toEqual({ "autoscaling.keda.sh/paused": "false" }),
    );
    await world.kube.resource(elastiServices).delete({ namespace: "default", name: "made" });
    await eventually(async () => expect((await resource.list({ namespace: "default" })).items).toEqual([]));
  }, 60_000);

  test("give a ScaledObject of somebody else back as it was when the ElastiService goes in the midst of sleep", async () => {
    const at = { namespace: "default", name: "given" };
    const resource = world.kube.resource(scaledObjects);
    const spec = { scaleTargetRef: { name: "given" }, triggers: [] };
    await resource.create({ apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", metadata: at, spec });
    await asleep("given");
    await eventually(async () =>
      expect((await resource.get(at)).metadata.annotations).toMatchObject({ "autoscaling.keda.sh/paused": "true" }),
    );
    await world.kube.resource(elastiServices).delete(at);
    await eventually(async () => expect(await world.replicas("given")).toBe(1));
    await eventually(async () =>
      expect((await resource.get(at)).metadata.annotations).toEqual({ "autoscaling.keda.sh/paused": "false" }),
    );
    expect((await resource.get(at)).spec).toEqual(spec);
    await resource.delete(at);
  }, 60_000);
});

describe("a replica that ends", () => {
  test("ends KEDA's streams well, so that it comes back at once", async () => {
    await using world = await World.start({ number: 25 });
    await world.workload("shop");
    const service = world.serve();
    await world.elasti("shop", { autoscaler: { type: "keda", name: "shop" } });
    await world.inState("shop", "Serve");
    const { ports } = (await service.phase("ready")) as { ports: Record<string, number> };
    await using client = new KedaClient(`127.0.0.1:${ports["grpc"] ?? 0}`);
    const [active, specs] = [client.streamIsActive(referenceTo("shop")), client.streamMetricSpec(referenceTo("shop"))];
    expect((await active.at(0)).message).toBe(true);
    await specs.at(0);
    service.signal("SIGTERM");
    expect(await active.end).toMatchObject({ status: 0 });
    expect(await specs.end).toMatchObject({ status: 0 });
    expect((await service.exit).code).toBe(0);
  }, 60_000);
});
