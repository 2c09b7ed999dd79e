import type { Node } from "@evenkeel/kube";
import type { TargetGroup } from "../target-group.ts";
import { ADDRESS, hostPort, type LabelDraft, META, put, sanitized } from "./meta-labels.ts";
import type { Surroundings } from "./surroundings.ts";

const PROVIDER_ID = `${META}node_provider_id`;
const CONDITION = `${META}node_condition_`;
const NODE_ADDRESS = `${META}node_address_`;

/** Which address of a node is scraped, the best first. */
const PREFERRED = ["InternalIP", "InternalDNS", "ExternalIP", "ExternalDNS", "LegacyHostIP", "Hostname"];

/** Role node: the kubelet of a node. */
export function nodeGroup(node: Node, { names }: Surroundings): TargetGroup {
  const { name = "" } = node.metadata;
  const labels: LabelDraft = new Map();
  put(labels, PROVIDER_ID, node.spec?.providerID);
  for (const { type, status } of node.status?.conditions ?? [])
    put(labels, CONDITION + sanitized(type.toLowerCase()), status.toLowerCase());
  names.addObject(labels, node, "node");

  const addresses = new Map<string, string>();
  for (const { type, address } of node.status?.addresses ?? []) if (!addresses.has(type)) addresses.set(type, address);
  const best = PREFERRED.find((type) => addresses.has(type));
  if (best === undefined) return { source: `node/${name}`, labels, targets: [] };
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  const target: LabelDraft = new Map();
  put(target, ADDRESS, hostPort(addresses.get(best) ?? "", port));
  put(target, "instance", name);
  for (const [type, address] of addresses) put(target, NODE_ADDRESS + sanitized(type), address);
  return { source: `node/${name}`, labels, targets: [target] };
}
