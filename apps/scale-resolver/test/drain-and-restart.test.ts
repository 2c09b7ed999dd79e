import { eventually } from "@evenkeel/runtime/testing";
import { describe, expect, jest, test } from "@jest/globals";
import { metricOf } from "./admin-api.ts";
import { IN_SOAK } from "./soak.ts";
import { times, World } from "./world.ts";

jest.setTimeout(60_000);

const HELD = IN_SOAK ? 500 : 200;

describe("a resolver", () => {
  test.concurrent(
    `that gets SIGTERM with ${HELD} requests held loses none of them: a pod that is ready within the drain answers all`,
    async () => {
      await using world = await World.start();
      const service = world.serve(["--drain-timeout=25s"]);
      await world.atZero("shop");
      // No pod starts before all of them wait.
      const end = world.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch", resource: "deployments" });
      const answers = Array.from({ length: HELD }, (_, index) =>
        world.ask("shop", index % 2 === 0 ? { path: `/${index}` } : { method: "POST", path: `/${index}`, body: "x" }),
      );
      const metrics = await service.url("admin", "/metrics");
      await eventually(async () => {
        expect(await metricOf(metrics, "evenkeel_resolver_pending", { service: "shop" })).toBe(HELD);
      });
      expect(world.received).toEqual([]);
      service.signal("SIGTERM");
      await service.phase("drain");
      end();
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(times(HELD, 200));
      expect(new Set(world.received.map(({ path }) => path)).size).toBe(HELD);
      expect(world.received).toHaveLength(HELD);
      expect((await service.exit).code).toBe(0);
    },
  );

  test.concurrent(
    "that restarts finds a service that serves, one that sleeps, one that wakes and one whose last pod terminates where they are",
    async () => {
      await using world = await World.start();
      const names = ["serving", "sleeping", "waking", "terminating"];
      for (const name of names) await world.workload(name, name === "sleeping" ? 0 : 1);
      const first = world.serve();
      for (const name of names) await world.elasti(name, { triggers: undefined });
      for (const name of names) await world.inState(name, name === "sleeping" ? "Zero" : "Serve");
      await world.scale("waking", 0);
      await world.inState("waking", "Zero");
      first.signal("SIGTERM");
      await first.exit;
      // Clients of one that sleeps are refused at once.
      const [slice] = await world.resolverSlices("sleeping");
      expect(slice?.endpoints).toMatchObject([{ conditions: { ready: false } }]);
      await expect(world.ask("sleeping")).rejects.toMatchObject({ code: "ECONNRESET" });
      await world.ready("sleeping", "NoResolver");

      // While no resolver runs, one is scaled up, and another one down.
      await world.scale("waking", 1);
      await world.scale("terminating", 0);
      const second = world.serve();
      await second.phase("ready");
      await world.inState("waking", "Serve");
      await world.inState("terminating", "Zero");
      await world.inState("serving", "Serve");
      await world.inState("sleeping", "Zero");
      // None of those that serve was scaled to zero, and none that sleeps was woken.
      const replicas = await Promise.all(names.map((name) => world.replicas(name)));
      expect(Object.fromEntries(names.map((name, index) => [name, replicas[index]]))).toEqual({
        ...{ serving: 1, sleeping: 0, waking: 1, terminating: 0 },
      });
      for (const name of names) {
        const { status } = await eventually(() => world.ask(name, { path: `/${name}` }));
        expect([name, status, await world.replicas(name)]).toEqual([name, 200, 1]);
      }
    },
  );

  test.concurrent(
    "that replaces a killed one restores paths of services with ready pods, wakes others on request, and keeps all ports",
    async () => {
      await using world = await World.start();
      await world.workload("guarded");
      world.traffic.set("guarded", 0);
      const first = world.serve(["--pod-name=first"]);
      const names = ["one", "two", "three"];
      await Promise.all(names.map((name) => world.atZero(name)));
      await world.elasti("guarded", { quietPeriod: 600 });
      await world.inState("guarded", "Guard");
      const portsOf = async () =>
        Promise.all(names.map(async (name) => (await world.get(name)).status?.ports?.map(({ port }) => port)));
      const before = await portsOf();
      expect(new Set(before.flat()).size).toBe(3);
      first.signal("SIGKILL");
      await first.exit;
      world.traffic.set("guarded", 5);
      world.serve(["--pod-name=second"]);
      await world.inState("guarded", "Serve");
      await world.isRestored("guarded");
      expect(await world.replicas("guarded")).toBe(1);
      await eventually(async () => expect((await world.ask("two")).status).toBe(200));
      await world.inState("two", "Serve");
      expect(await portsOf()).toEqual(before);
    },
  );
});
