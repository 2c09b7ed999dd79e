import { KubernetesDiscovery, type KubernetesParts } from "../kubernetes/kubernetes-discovery.ts";
import type { GroupSink } from "../target-group.ts";
import type { DiscoveryBlock } from "./discovery-block.ts";
import { dnsDiscovery, type DnsParts } from "./dns-discovery.ts";
import { FileDiscovery, type FileParts } from "./file-discovery.ts";
import { httpDiscovery, type HttpParts } from "./http-discovery.ts";
import { staticGroups } from "./static-discovery.ts";

/** A block that runs. */
export interface Discovery {
  stop(): void;
}

export interface DiscoveryParts extends KubernetesParts, FileParts, HttpParts, DnsParts {}

/** Starts a block: what it finds goes to `sink`, from now until it is stopped. */
export function startDiscovery(block: DiscoveryBlock, sink: GroupSink, parts: DiscoveryParts): Discovery {
  switch (block.mechanism) {
    case "static":
      sink.update(staticGroups(block));
      sink.health({ answered: true, goodAt: parts.clock.now() });
      return { stop: () => undefined };
    case "kubernetes":
      return new KubernetesDiscovery(block, sink, parts);
    case "file":
      return new FileDiscovery(block, sink, parts);
    case "http":
      return httpDiscovery(block, sink, parts);
    case "dns":
      return dnsDiscovery(block, sink, parts);
  }
}
