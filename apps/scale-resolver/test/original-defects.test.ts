import { once } from "node:events";
import { connect } from "node:net";
import { eventually } from "@evenkeel/runtime/testing";
import type { ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { metricOf } from "./admin-api.ts";
import { times, World } from "./world.ts";

// Defects of KubeElasti 0.1.30. Those of the gateway alone are tested in gateway/: disconnected clients, leaked slots,
// buffered bodies, streams and WebSockets, ports without a header for their Service.

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

describe("a cold burst", () => {
  test.concurrent("with a hundred paths and hosts makes no more series than one request does", async () => {
    await world.atZero("series");
    const metrics = await service.url("admin", "/metrics");
    const of = { service: "series" };
    const series = async () => {
      const text = await (await fetch(metrics)).text();
      const all = text.split("\n").filter((line) => line.startsWith("elasti_resolver_incoming_requests"));
      return all.filter((line) => line.includes('"series"')).length;
    };
    expect((await world.ask("series")).status).toBe(200);
    await world.inState("series", "Serve");
    await world.scale("series", 0);
    await world.sleeps("series");
    await eventually(async () => expect(await series()).toBeGreaterThan(0));
    const before = await series();
    // All requests wait before a pod starts.
    const end = world.faults.add({
      fault: { kind: "status", code: 503 },
      ...{ verb: "patch", resource: "deployments", name: "series" },
    });
    const answers = Array.from({ length: 100 }, (_, index) =>
      world.ask("series", { path: `/p/${index}?q=${index}`, headers: { host: `h${index}.test` } }),
    );
    await eventually(async () => expect(await metricOf(metrics, "evenkeel_resolver_pending", of)).toBe(100));
    end();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(times(100, 200));
    await eventually(async () => expect(await metricOf(metrics, "evenkeel_resolver_requests_total", of)).toBe(101));
    expect(await series()).toBe(before);
  });

  test.concurrent("is answered by the pod, although it refuses connections for a while after it is ready", async () => {
    await using world = await World.start({ refuse: 700 });
    const metrics = await world.serve().url("admin", "/metrics");
    await world.atZero("shop");
    // All requests wait before a pod starts.
    const end = world.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch", resource: "deployments" });
    const statuses = world.askAll("shop", 20, { method: "POST", body: "x" });
    await eventually(async () => expect(await metricOf(metrics, "evenkeel_resolver_pending")).toBe(20));
    end();
    expect(await statuses).toEqual(times(20, 200));
    expect(world.received).toHaveLength(20);
  });

  test.concurrent("passes on a redirect as such", async () => {
    await world.atZero("redirect");
    const { status, headers } = await world.ask("redirect", { path: "/redirect" });
    expect([status, headers["location"]]).toEqual([302, "/elsewhere"]);
  });

  test.concurrent("on one connection is never refused with 403 or 408", async () => {
    await world.atZero("pipelined");
    const { status: found } = await world.get("pipelined");
    const client = connect(found?.ports?.[0]?.port ?? 0, "127.0.0.1");
    let got = "";
    client.on("data", (chunk: Buffer) => (got += chunk.toString()));
    await once(client, "connect");
    const statuses = () => [...got.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
    // Pipelined: the second request is sent before the response to the first asks to reconnect.
    client.write("GET /1 HTTP/1.1\r\nhost: shop\r\n\r\nGET /2 HTTP/1.1\r\nhost: shop\r\n\r\n");
    await eventually(() => expect(statuses().length).toBeGreaterThanOrEqual(1));
    expect(new Set(statuses())).toEqual(new Set(["200"]));
    client.destroy();
  });

  test.concurrent(
    "repeats a scale call that fails at once, and not after the next request or half a minute",
    async () => {
      await world.atZero("retried");
      world.faults.add({
        fault: { kind: "status", code: 500 },
        ...{ verb: "patch", resource: "deployments", name: "retried", times: 3 },
      });
      const began = performance.now();
      expect((await world.ask("retried")).status).toBe(200);
      expect(performance.now() - began).toBeLessThan(10_000);
    },
  );

  test.concurrent(
    "does not matter to other services: among six with different metrics, the idle ones sleep and the busy ones do not",
    async () => {
      const names = Array.from({ length: 6 }, (_, index) => ({ name: `shop-${index}`, busy: index % 2 === 1 }));
      for (const { name, busy } of names) {
        await world.workload(name);
        world.traffic.set(name, busy ? 1 : 0);
        await world.elasti(name);
      }
      for (const { name, busy } of names) if (!busy) await world.inState(name, "Zero");
      for (const { name, busy } of names) {
        if (!busy) continue;
        await world.ready(name, "Busy");
        expect([name, await world.replicas(name)]).toEqual([name, 1]);
      }
    },
  );

  // Not concurrent, because a slower wake needs more calls.
  test("of 500 costs the API server 16 calls at most, and not one for each waiting request", async () => {
    await using world = await World.start({ startDelay: 2000 });
    // Its return to Serve is not part of it: the service stays in Guard.
    const service = world.serve(["--settle=60s"]);
    await world.atZero("shop");
    const metrics = await service.url("admin", "/metrics");
    world.calls.length = 0;
    // The Lease is renewed regardless.
    const calls = () => world.calls.filter((call) => !call.includes("/leases/"));
    const asked = Array.from({ length: 500 }, async () => (await world.ask("shop")).status);
    expect(await Promise.all(asked)).toEqual(times(500, 200));
    await world.inState("shop", "Guard");
    // One call wakes. Each of three transitions needs a read, an Event and a status. After 1 s and 3 s the service
    // verifies with three calls each that the workload is still awake.
    expect(calls()).toContain("PATCH /apis/apps/v1/namespaces/default/deployments/shop/scale");
    expect(calls().slice(16)).toEqual([]);
    // None of it is left over.
    await eventually(async () => {
      for (const name of ["elasti_resolver_queued_count", "evenkeel_resolver_pending", "evenkeel_resolver_in_flight"]) {
        expect([name, await metricOf(metrics, name)]).toEqual([name, 0]);
      }
    });
  });
});
