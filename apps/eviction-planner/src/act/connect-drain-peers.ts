import type { KubeClient } from "@evenkeel/kube";
import type { MetricRegistry } from "@evenkeel/metrics";
import type { OperatorFrame } from "@evenkeel/operator";
import { connectPeer, drainV1, peerMetrics } from "@evenkeel/rpc";
import { DrainPeers } from "./drain-peers.ts";

export interface DrainPeerParts {
  readonly frame: Pick<OperatorFrame, "use" | "kube" | "certificates" | "common">;
  readonly registry: MetricRegistry;
}

/** Connects to the services that are asked before a pod is evicted, with the token of this service's account. */
export function drainPeers(addresses: readonly string[], { frame, registry }: DrainPeerParts): DrainPeers {
  const { clock, log } = frame.common;
  if (addresses.length === 0) return new DrainPeers({ peers: [], clock, log });
  const metrics = registry.register(peerMetrics);
  const transport = frame.certificates ?? "insecure";
  const token = () => tokenOf(frame.kube);
  const peers = addresses.map((address) => {
    const peer = frame.use(connectPeer({ name: address, address, transport, token, clock, log, metrics }));
    return { name: address, client: peer.client(drainV1.DrainHookDefinition) };
  });
  return new DrainPeers({ peers, clock, log });
}

/** The bearer token that this process sends to the API server; empty where it authenticates otherwise. */
async function tokenOf(kube: Pick<KubeClient, "access">): Promise<string> {
  const { headers } = await kube.access();
  const header = Object.entries(headers).find(([name]) => name.toLowerCase() === "authorization");
  return /^Bearer (.+)$/i.exec(header?.[1] ?? "")?.[1] ?? "";
}
