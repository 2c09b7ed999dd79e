import { KubernetesDiscovery, type KubernetesParts } from "../kubernetes/kubernetes-discovery.ts";
import type { GroupSink } from "../target-group.ts";
import type { DiscoveryBlock } from "./discovery-block.ts";
import { staticGroups } from "./static-discovery.ts";

/** A block that runs. */
export interface Discovery {
  stop(): void;
}

export type DiscoveryParts = KubernetesParts;

/** Starts a block: what it finds goes to `sink`, from now until it is stopped. */
export function startDiscovery(block: DiscoveryBlock, sink: GroupSink, parts: DiscoveryParts): Discovery {
  switch (block.mechanism) {
    case "static":
      sink.update(staticGroups(block));
      sink.health({ answered: true, goodAt: parts.clock.now() });
      return { stop: () => undefined };
    case "kubernetes":
      return new KubernetesDiscovery(block, sink, parts);
  }
}
