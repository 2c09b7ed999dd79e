import { eventually } from "@evenkeel/runtime/testing";
import { expect, jest, test } from "@jest/globals";
import { HangingServer } from "./hanging-server.ts";
import { World } from "./world.ts";

jest.setTimeout(90_000);

test("a service whose last pod ends is redirected while the metric server of all services does not answer", async () => {
  await using server = await HangingServer.start();
  await using world = await World.start();
  // One reconcile at a time: none must wait for the metric server.
  world.serve(["--workers=1"]);
  const triggers = [{ type: "prometheus", metadata: { query: "up", serverAddress: server.url, threshold: "0.5" } }];
  for (const name of ["left", "other"]) {
    await world.workload(name);
    await world.elasti(name);
    await world.inState(name, "Serve");
    await world.edit(name, { triggers });
  }
  // A query that is given up meanwhile, on a busy machine, shows nothing: the next one does.
  await eventually(async () => {
    const query = await server.nextQuery();
    await world.scale("left", 0);
    await eventually(async () => expect(await world.redirectedTo("left")).toHaveLength(1));
    if (query.isOpen) return true;
    await world.scale("left", 1);
    await world.isRestored("left");
    return false;
  }, 60_000);
  // Until its pods are ready again it needs no trigger.
  await world.inState("left", "Zero");
  expect(await world.replicas("other")).toBe(1);
});
