import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type KubeObject, type ResourceTypeOf } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { describeRedis } from "@evenkeel/state-contract";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { CONCURRENCY, REQUEST_RATE } from "../src/serve/external-scaler.ts";
import { CallFailed, KedaClient, type Reference, wholeFields } from "./keda-client.ts";
import { Pair } from "./pair.ts";
import { ask } from "./ask.ts";
import { World } from "./world.ts";

jest.setTimeout(60_000);

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
  let calls = 0;

  beforeAll(async () => {
    world = await World.start();
    world.api.load(await scalerDefinition());
    pair = await Pair.start(world);
    clients = [
      new KedaClient(await pair.listener(pair.a, "grpc")),
      new KedaClient(await pair.listener(pair.b, "grpc")),
    ];
  });
  afterAll(async () => {
    for (const client of clients) await client[Symbol.asyncDispose]();
    await pair[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  /** The next replica, as KEDA's round robin has it. */
  const next = () => clients[(calls += 1) % 2] as KedaClient;
  const fromBoth = <T>(ask: (client: KedaClient) => Promise<T>) => Promise.all(clients.map(ask));

  async function service(name: string, change: Readonly<Record<string, unknown>> = {}) {
    world.traffic.set(name, 5);
    await world.workload(name);
    await world.elasti(name, { autoscaler: { type: "keda", name }, ...change });
  }

  async function asleep(name: string, change: Readonly<Record<string, unknown>> = {}) {
    await world.asleep(name, { autoscaler: { type: "keda", name }, ...change });
    // The follower reads it from the status a moment later.
    await eventually(async () =>
      expect(await fromBoth((client) => client.isActive(referenceTo(name)))).toEqual([false, false]),
    );
  }

  test.concurrent("answer its calls alike, in its order, asleep and awake", async () => {
    await asleep("alike");
    const reference = referenceTo("alike", { targetConcurrency: "10", targetRequestRate: "2.5" });
    const specs = [
      { metricName: CONCURRENCY, targetSize: 10n, targetSizeFloat: 10 },
      { metricName: REQUEST_RATE, targetSize: 3n, targetSizeFloat: 2.5 },
    ];
    expect(await fromBoth((client) => client.metricSpec(reference))).toEqual([specs, specs]);
    // KEDA uses the float only if it is above 0, so that 0 is 0 in both.
    for (let poll = 0; poll < 4; poll++) {
      const client = next();
      const nothing = [{ metricName: CONCURRENCY, metricValue: 0n, metricValueFloat: 0 }];
      expect(await client.metrics(reference, CONCURRENCY)).toEqual(nothing);
      expect(await client.isActive(reference)).toBe(false);
    }
    expect(await next().metrics(reference, "s0-cpu")).toEqual([]);

    world.traffic.set("alike", 5);
    expect((await pair.ask(pair.b, "alike")).status).toBe(200);
    await world.inState("alike", "Serve");
    const held = [{ metricName: CONCURRENCY, metricValue: 10n, metricValueFloat: 10 }];
    for (let poll = 0; poll < 4; poll++) {
      const client = next();
      expect(await client.metrics(reference, CONCURRENCY)).toEqual(held);
      expect(await client.isActive(reference)).toBe(true);
    }
  });

  test("push the first held request within 20 ms, from the one that holds it and from the other", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `edge-${index}`);
    await Promise.all(names.map((name) => asleep(name)));
    // Any single push may be delayed by other processes, so the fastest counts.
    const BAR = 20;
    const quickest = { here: Infinity, there: Infinity };
    for (const name of names) {
      const [here, there] = clients.map((client) => client.streamIsActive(referenceTo(name)));
      expect((await here?.at(0))?.message).toBe(false);
      expect((await there?.at(0))?.message).toBe(false);
      const place = await pair.place(pair.a, name);
      const sent = performance.now();
      const answer = ask(place);
      const [first, second] = [await here?.at(1), await there?.at(1)];
      expect([first?.message, second?.message]).toEqual([true, true]);
      quickest.here = Math.min(quickest.here, (first?.at ?? Infinity) - sent);
      quickest.there = Math.min(quickest.there, (second?.at ?? Infinity) - sent);
      expect((await answer).status).toBe(200);
      here?.cancel();
      there?.cancel();
      if (Math.max(quickest.here, quickest.there) < BAR) break;
    }
    expect(Math.max(quickest.here, quickest.there)).toBeLessThan(BAR);
  });

  test.concurrent("repeat it until there are replicas, because KEDA drops early messages", async () => {
    const name = "again";
    await asleep(name);
    const end = world.faults.add({
      fault: { kind: "status", code: 503 },
      verb: "patch",
      resource: "deployments",
      name,
    });
    const stream = next().streamIsActive(referenceTo(name));
    expect((await stream.at(0)).message).toBe(false);
    const answer = pair.ask(pair.b, name);
    const [first, second, third] = [await stream.at(1), await stream.at(2), await stream.at(3)];
    expect([first.message, second.message, third.message]).toEqual([true, true, true]);
    // Every two seconds; a message may arrive late on a busy machine.
    expect(second.at - first.at).toBeGreaterThan(1000);
    expect(third.at - second.at).toBeGreaterThan(1000);
    end();
    expect((await answer).status).toBe(200);
    stream.cancel();
  });

  test.concurrent("are active at once after a wake of their own, and never inactive until it serves", async () => {
    await asleep("trap-one");
    const reference = referenceTo("trap-one");
    const streams = clients.map((client) => client.streamIsActive(reference));
    for (const stream of streams) await stream.at(0);
    const answer = pair.ask(pair.a, "trap-one");
    for (const stream of streams) await stream.at(1);
    world.traffic.set("trap-one", 5);
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
  });

  test.concurrent(
    "never report a busy service as idle if they do not see its requests, and request as many pods as there are",
    async () => {
      await service("trap-two");
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
    },
  );

  test.concurrent(
    "send the same metrics on a stream and on request, in whole numbers for older versions of KEDA",
    async () => {
      await service("old");
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
    },
  );

  test.concurrent(
    "find a Service by the trigger's metadata too, and answer NOT_FOUND for what they do not know",
    async () => {
      await service("named", { autoscaler: undefined });
      await world.inState("named", "Serve");
      expect(await next().isActive(referenceTo("anything", { service: "named" }))).toBe(true);
      for (const reference of [referenceTo("nobody"), referenceTo("anything", { service: "nobody" })]) {
        const failure = await next()
          .isActive(reference)
          .catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(CallFailed);
        expect((failure as CallFailed).end).toMatchObject({ status: 5, code: "EK_RESOLVER_NO_SUCH_SCALED_SERVICE" });
        expect(await next().streamIsActive(reference).end).toMatchObject({ status: 5 });
      }
    },
  );

  test.concurrent(
    "create the ScaledObject that the spec asks for, pause it during sleep, and it is deleted with its ElastiService",
    async () => {
      const autoscaler = { type: "keda", name: "made-scaler", create: true, maxReplicas: 9, targetConcurrency: 20 };
      await service("made", { autoscaler });
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
      world.traffic.set("made", 0);
      await world.inState("made", "Zero");
      const paused = (await resource.get(at)).metadata.annotations;
      expect(paused).toMatchObject({
        "autoscaling.keda.sh/paused": "true",
      });
      world.traffic.set("made", 5);
      expect((await pair.ask(pair.a, "made")).status).toBe(200);
      await world.inState("made", "Serve");
      await eventually(async () =>
        expect((await resource.get(at)).metadata.annotations).toEqual({ "autoscaling.keda.sh/paused": "false" }),
      );
      await world.delete("made");
      await eventually(async () => {
        const { items } = await resource.list({ namespace: "default" });
        expect(items.map(({ metadata }) => metadata.name)).not.toContain("made-scaler");
      });
    },
  );

  test.concurrent("restore a user's ScaledObject when the ElastiService is deleted while it sleeps", async () => {
    const at = { namespace: "default", name: "given" };
    const resource = world.kube.resource(scaledObjects);
    const spec = { scaleTargetRef: { name: "given" }, triggers: [] };
    await resource.create({ apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", metadata: at, spec });
    await world.fallsAsleep("given", { autoscaler: { type: "keda", name: "given" } });
    await eventually(async () =>
      expect((await resource.get(at)).metadata.annotations).toMatchObject({ "autoscaling.keda.sh/paused": "true" }),
    );
    await world.delete("given");
    await world.isScaledTo("given", 1);
    await eventually(async () =>
      expect((await resource.get(at)).metadata.annotations).toEqual({ "autoscaling.keda.sh/paused": "false" }),
    );
    expect((await resource.get(at)).spec).toEqual(spec);
    await resource.delete(at);
  });
});

describe("a replica that ends", () => {
  test("ends KEDA's streams without an error, so that KEDA reconnects at once", async () => {
    await using world = await World.start();
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
  });
});
