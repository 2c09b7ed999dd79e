import { describe, expect, test } from "@jest/globals";
import { type Fields, fieldsOr } from "../../json.ts";
import { statusOf, tables } from "../object-state.ts";
import { SmallWorld } from "../../testing/small-world.ts";
import { kubelet, type KubeletOptions } from "./kubelet.ts";
import { simNode } from "./sim-node.ts";

const node = simNode("a", { cpu: "4", memory: "8Gi" });
const pod = (name: string, spec: Fields = {}): Fields => ({
  metadata: { name },
  spec: { nodeName: "a", containers: [{ name: "c", image: "web:1" }], ...spec },
});

function start(options: KubeletOptions, ...pods: readonly Fields[]): SmallWorld {
  const world = new SmallWorld(kubelet(options));
  world.create(tables.nodes, node);
  for (const one of pods) world.create(tables.pods, one);
  return world;
}

const status = (world: SmallWorld, name = "p"): Fields => statusOf(world.get(tables.pods, name) ?? ({} as never));

describe("the kubelet", () => {
  test("lets a pod run and be ready after the start delay, under an address of its own", async () => {
    const world = start({ startDelay: 3000, podCidr: "10.9.0.0/24" }, pod("p"), pod("q"));
    await world.clock.advance(2999);
    expect(status(world)["phase"]).toBe("Pending");
    await world.clock.advance(1);
    expect(status(world)).toMatchObject({
      ...{ phase: "Running", podIP: "10.9.0.1", podIPs: [{ ip: "10.9.0.1" }], startTime: "2026-01-01T00:00:03Z" },
      containerStatuses: [{ name: "c", image: "web:1", ready: true, restartCount: 0 }],
    });
    expect(status(world)["conditions"]).toContainEqual({
      ...{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:03Z" },
    });
    expect(status(world, "q")["podIP"]).toBe("10.9.0.2");
  });

  test("leaves a status that somebody else wrote of a running pod", async () => {
    const world = start({ startDelay: 0 }, pod("p"));
    await world.clock.advance(0);
    world.run("p", false);
    await world.clock.advance(60_000);
    expect(status(world)["conditions"]).toMatchObject([{ type: "Ready", status: "False" }]);
  });

  test("takes a deleted pod away after the termination delay and gives its address to others", async () => {
    const world = start({ startDelay: 0, terminationDelay: 5000, podCidr: "10.9.0.0/30" }, pod("p"), pod("q"));
    await world.clock.advance(0);
    world.delete(tables.pods, "p");
    await world.clock.advance(4999);
    expect(status(world)).toMatchObject({ phase: "Running" });
    await world.clock.advance(1);
    expect(world.get(tables.pods, "p")).toBeUndefined();
    world.create(tables.pods, pod("r"));
    await world.clock.advance(0);
    expect(status(world, "r")["podIP"]).toBe("10.9.0.1");
  });

  test("waits no longer than the grace period, also when that is cut short", async () => {
    const world = start({ startDelay: 0, terminationDelay: 60_000 }, pod("p"), pod("q"));
    await world.clock.advance(0);
    for (const name of ["p", "q"]) world.delete(tables.pods, name);
    const type = world.types.ofTable(tables.pods) ?? ({} as never);
    world.objects.delete(type, { namespace: "default", name: "q" }, { gracePeriodSeconds: 2 });
    await world.clock.advance(2000);
    expect(world.list(tables.pods).map(({ metadata }) => metadata.name)).toEqual(["p"]);
    await world.clock.advance(28_000);
    expect(world.list(tables.pods)).toEqual([]);
  });

  test("never starts a pod that was deleted before it ran", async () => {
    const world = start({ startDelay: 5000, terminationDelay: 10_000 }, pod("p"));
    world.delete(tables.pods, "p");
    await world.clock.advance(9999);
    expect(status(world)["phase"]).toBe("Pending");
    await world.clock.advance(1);
    expect(world.get(tables.pods, "p")).toBeUndefined();
  });

  test("does nothing on a node that is not ready, and goes on when it is", async () => {
    const world = start({ startDelay: 0 });
    const ready = (value: string): Fields => ({ conditions: [{ type: "Ready", status: value }] });
    const set = (value: string): void =>
      world.update(
        tables.nodes,
        "a",
        ({ status: old }) => ({ status: { ...fieldsOr(old), ...ready(value) } }),
        "status",
      );
    set("Unknown");
    world.create(tables.pods, pod("p"));
    await world.clock.advance(60_000);
    expect(status(world)["phase"]).toBe("Pending");
    set("True");
    await world.clock.advance(0);
    expect(status(world)["phase"]).toBe("Running");
  });

  test("leaves no timer when it is stopped", () => {
    const world = start({}, pod("p"));
    expect(world.clock.pending).toBe(1);
    world.stop();
    expect(world.clock.pending).toBe(0);
  });
});
