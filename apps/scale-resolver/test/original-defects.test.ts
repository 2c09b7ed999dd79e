import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { metricOf } from "./asking.ts";
import { eventually, World } from "./world.ts";

// What KubeElasti 0.1.30 gets wrong. What the path of requests alone can show is in gate/: clients that leave, slots that leak,
// bodies that are kept, streams and WebSockets, ports whose Service no header names.

let world: World;
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** A service at 0 replicas. */
async function asleep(options: { readonly startDelay?: number; readonly refuse?: number } = {}) {
  world = await World.start({ number: 19, ...options });
  await world.workload("shop", 0);
  const service = world.serve();
  await world.elasti("shop");
  await world.inState("shop", "Zero");
  return { service, metrics: await service.url("admin", "/metrics") };
}

describe("a cold burst", () => {
  test("of 500 costs the API server 16 calls at most, and not one for each request that waits", async () => {
    const { metrics } = await asleep({ startDelay: 2000 });
    world.calls.length = 0;
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, index) => world.ask("shop", { path: `/${index}` })),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    // One call wakes. Each of three changes of state takes a read, an Event and a status. After 1 s and 3 s it is looked whether the workload is still awake, with three
    // calls each. The Lease is renewed whatever comes.
    const calls = world.calls.filter((call) => !call.includes("/leases/"));
    expect(calls).toContain("PATCH /apis/apps/v1/namespaces/default/deployments/shop/scale");
    expect(calls.slice(16)).toEqual([]);
    // None of it is left over.
    await eventually(async () => {
      for (const name of ["elasti_resolver_queued_count", "evenkeel_resolver_pending", "evenkeel_resolver_in_flight"]) {
        expect([name, await metricOf(metrics, name)]).toEqual([name, 0]);
      }
    });
  }, 60_000);

  test("with a hundred paths and hosts makes no more series than one request does", async () => {
    const { metrics } = await asleep();
    const series = async () => {
      const text = await (await fetch(metrics)).text();
      return text.split("\n").filter((line) => line.startsWith("elasti_resolver_incoming_requests")).length;
    };
    world.metric = 0;
    expect((await world.ask("shop")).status).toBe(200);
    await eventually(async () => expect(await world.replicas("shop")).toBe(0));
    await world.sleeps("shop");
    await eventually(async () => expect(await series()).toBeGreaterThan(0));
    const before = await series();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        world.ask("shop", { path: `/p/${index}?q=${index}`, headers: { host: `h${index}.test` } }),
      ),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    await eventually(async () => {
      expect(await metricOf(metrics, "evenkeel_resolver_requests_total")).toBeGreaterThanOrEqual(100);
    });
    expect(await series()).toBe(before);
  }, 60_000);
});

describe("the first request after a wake", () => {
  test("is answered with what the pod says, although it refuses connections for a while after it is ready", async () => {
    await asleep({ refuse: 700 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.ask("shop", { method: "POST", body: "x" })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(world.seen).toHaveLength(20);
  });

  test("that is answered with a redirect is passed on as such", async () => {
    await asleep();
    const { status, headers } = await world.ask("shop", { path: "/redirect" });
    expect([status, headers["location"]]).toEqual([302, "/elsewhere"]);
  });

  test("is followed by others on the same connection, which are never refused with 403 or 408", async () => {
    await asleep();
    const { status: found } = await world.get("shop");
    const client = connect(found?.ports?.[0]?.port ?? 0, "127.0.0.1");
    let got = "";
    client.on("data", (chunk: Buffer) => (got += chunk.toString()));
    await once(client, "connect");
    const statuses = () => [...got.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
    // In one go, as clients do that pipeline: none knows yet that it is told to connect anew.
    client.write("GET /1 HTTP/1.1\r\nhost: shop\r\n\r\nGET /2 HTTP/1.1\r\nhost: shop\r\n\r\n");
    await eventually(() => expect(statuses().length).toBeGreaterThanOrEqual(1));
    expect(new Set(statuses())).toEqual(new Set(["200"]));
    client.destroy();
  });
});

describe("what triggers read", () => {
  test("is of one service each: among six whose metrics differ, the idle ones sleep and the busy ones do not", async () => {
    world = await World.start({ number: 19 });
    const names = Array.from({ length: 6 }, (_, index) => `shop-${index}`);
    for (const [index, name] of names.entries()) {
      await world.workload(name);
      const samples = [{ metric: {}, value: index % 2 }];
      world.prometheus.answer(`traffic(${index})`, () => ({ kind: "vector", samples }));
    }
    world.serve();
    for (const [index, name] of names.entries()) {
      const metadata = { query: `traffic(${index})`, serverAddress: world.prometheus.url, threshold: "0.5" };
      await world.elasti(name, { triggers: [{ type: "prometheus", metadata }] });
    }
    for (const [index, name] of names.entries()) if (index % 2 === 0) await world.inState(name, "Zero");
    for (const [index, name] of names.entries()) {
      if (index % 2 === 0) continue;
      const ready = (await world.get(name)).status?.conditions?.find(({ type }) => type === "Ready");
      expect([name, await world.replicas(name), ready?.reason]).toEqual([name, 1, "Busy"]);
    }
  }, 60_000);
});

describe("a scale call that fails", () => {
  test("is repeated at once, and not after the next request or half a minute", async () => {
    await asleep();
    world.faults.add({ fault: { kind: "status", code: 500 }, verb: "patch", resource: "deployments", times: 3 });
    const began = performance.now();
    expect((await world.ask("shop")).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
