import { expect, test } from "@jest/globals";
import { rebalances } from "../src/rebalance-resource.ts";
import { SteppedService } from "./stepped-service.ts";
import { World } from "./world.ts";

const NAME = { namespace: "default", name: "checkout" };

const patch = (body: object) => (world: World) => world.kube.resource(rebalances).patch(NAME, { type: "merge", body });

test.each<[string, (world: World) => Promise<unknown>, number]>([
  ["is paused", patch({ metadata: { annotations: { "evenkeel.io/paused": "true" } } }), 16],
  ["is suspended", patch({ spec: { suspend: true } }), 16],
  ["becomes a dry run", patch({ spec: { dryRun: true } }), 16],
  ["gets a lower maximum", patch({ spec: { policy: { targettracking: { maximum: 10 } } } }), 10],
  ["is deleted", (world) => world.kube.resource(rebalances).delete(NAME), 16],
])("a write that waits for its batch is not sent once its Rebalance %s", async (_name, change, weight) => {
  await using world = await World.start();
  await using service = await SteppedService.start(world, ["--route53-batch-window=10s"]);
  await world.create("checkout", { interval: "30s" });
  await service.until(() => expect(world.weight()).toBe(16));
  world.metric = 6000;
  await service.until(() => expect(service.watched.decided.at(-1)?.verdict.after).toBe(40));
  await change(world);
  await service.advance(60_000);
  expect(world.route53.journal.map(({ after }) => after?.weight)).not.toContain(40);
  expect(world.weight()).toBe(weight);
  expect(service.failures).toEqual([]);
});
