import { afterEach, expect, test } from "@jest/globals";
import { tables } from "../object-state.ts";
import { SmallWorld } from "../../testing/small-world.ts";
import { podPrograms } from "./pod-programs.ts";

let world: SmallWorld;
afterEach(() => world.stop());

test("a program runs from when its pod has an address until the pod is gone, and hears that it is to go", () => {
  const told: string[] = [];
  const behaviour = podPrograms(({ name, address }) => {
    told.push(`${name} starts at ${address}`);
    return { terminate: () => told.push(`${name} is to go`), kill: () => told.push(`${name} is gone`) };
  });
  world = new SmallWorld(behaviour);
  world.create(tables.pods, {
    metadata: { name: "a" },
    spec: { nodeName: "n", containers: [{ name: "c", image: "i" }] },
  });
  expect(told).toEqual([]);
  const status = { phase: "Running", podIP: "127.1.0.1" };
  world.update(tables.pods, "a", () => ({ status }), "status");
  world.update(tables.pods, "a", () => ({ status: { ...status, hostIP: "127.0.0.1" } }), "status");
  expect(told).toEqual(["a starts at 127.1.0.1"]);
  world.delete(tables.pods, "a");
  world.update(tables.pods, "a", () => ({ status: { ...status, reason: "x" } }), "status");
  expect(told.slice(1)).toEqual(["a is to go"]);
  world.stop();
  expect(told.slice(2)).toEqual(["a is gone"]);
});
