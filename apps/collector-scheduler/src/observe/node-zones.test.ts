import { type Node, Store } from "@evenkeel/kube";
import { FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { NodeZones } from "./node-zones.ts";

test("a controller waits for the zones of nodes, but not for ever where nodes may not be listed", async () => {
  const clock = new FakeClock();
  const zones = new NodeZones(new Store<Node>({ log: silentLog() }), clock);
  let isDone = false;
  const done = zones
    .awaited()
    .whenSynced(new AbortController().signal)
    .then(() => (isDone = true));
  await clock.advance(29_000);
  expect(isDone).toBe(false);
  await clock.advance(1000);
  await done;
  expect(isDone).toBe(true);
});
