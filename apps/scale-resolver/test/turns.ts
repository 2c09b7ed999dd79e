import { services } from "@evenkeel/kube";
import { expect } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { eventually, type World } from "./world.ts";

/**
 * Has the leader look at a service that sleeps again and again, and resolves when the last of those turns is over. Each has a cause, a label of the
 * Service and another cooldown, that asks for no change of a path.
 */
export async function takeTurns(world: World, name: string, count = 5): Promise<void> {
  const of = { namespace: "default", name };
  for (let turn = 1; turn <= count; turn++) {
    const labels = { turn: String(turn) };
    await world.kube.resource(services).patch(of, { type: "merge", body: { metadata: { labels } } });
    const spec = { cooldownPeriod: 60 + turn };
    const { metadata } = await world.kube.resource(elastiServices).patch(of, { type: "merge", body: { spec } });
    // A status is written when its turn has done everything else.
    await eventually(async () => {
      const { status } = await world.get(name);
      expect(status).toMatchObject({ state: "Zero", observedGeneration: metadata.generation });
    });
  }
}
