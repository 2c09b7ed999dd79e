import { expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import type { Faults } from "@evenkeel/sim";
import { WatchedService } from "./watched-service.ts";
import { twoSites, World } from "./world.ts";

test("a watch that lags behind does not replace the initial weight by one that the service wrote itself", async () => {
  const dropped: string[] = [];
  /** A watch of Rebalances that never shows the status with the initial weight. */
  const faults: Faults = (request, response) => {
    if (!/rebalances\?.*watch=/.test(request.url ?? "")) return "pass";
    const write = response.write.bind(response) as (chunk: unknown) => boolean;
    response.write = (chunk: unknown) => {
      if (!String(chunk).includes("initialWeights")) return write(chunk);
      dropped.push(String(chunk));
      return true;
    };
    return "pass";
  };
  await using world = await World.start(twoSites("www.example.com"), { faults });
  await world.create("checkout");
  await using service = new WatchedService(world);
  await eventually(() => expect(world.weight()).toBe(16));
  world.metric = 6000;
  await eventually(() => expect(world.weight()).toBe(40));
  await eventually(() => expect(service.decided.at(-1)?.verdict.action).toBe("hold"));
  const { status } = await world.get("checkout");
  expect(status?.initialWeights).toMatchObject([{ weight: 1 }]);
  expect(dropped.length).toBeGreaterThanOrEqual(2);
});
