import { services } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { expect } from "@jest/globals";
import type { World } from "./world.ts";

/**
 * Makes the leader reconcile a sleeping service several times, and resolves after the last reconcile. Each has a cause,
 * a label of the Service and another cooldown, that does not change a path.
 */
export async function reconcileAgain(world: World, name: string, count = 5): Promise<void> {
  for (let round = 1; round <= count; round++) {
    const labels = { round: String(round) };
    const body = { metadata: { labels } };
    await world.kube.resource(services).patch({ namespace: "default", name }, { type: "merge", body });
    const { metadata } = await world.edit(name, { cooldownPeriod: 60 + round });
    // A status is written after everything else of its reconcile.
    await eventually(async () => {
      const { status } = await world.get(name);
      expect(status).toMatchObject({ state: "Zero", observedGeneration: metadata.generation });
    });
  }
}
