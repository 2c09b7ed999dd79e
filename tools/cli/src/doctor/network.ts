import { CodedError } from "@evenkeel/runtime";
import { type KubeClient, kubeErrors, type KubeObject, type ResourceTypeOf } from "@evenkeel/kube";
import type { ServicePlace } from "../reach/proxied-connection.ts";
import type { Finding } from "./finding.ts";

interface Peer {
  readonly podSelector?: object;
  readonly namespaceSelector?: {
    readonly matchExpressions?: readonly { readonly key: string; readonly values?: readonly string[] }[];
  };
  readonly ipBlock?: { readonly cidr: string };
}

interface NetworkPolicy extends KubeObject {
  readonly spec: {
    readonly ingress?: readonly {
      readonly from?: readonly Peer[];
      readonly ports?: readonly { readonly port?: number | string }[];
    }[];
  };
}

const networkPolicies: ResourceTypeOf<NetworkPolicy> = {
  ...{ group: "networking.k8s.io", version: "v1", namespaced: true },
  ...{ kind: "NetworkPolicy", plural: "networkpolicies" },
};

/** The values of the chart that let others connect to the admin port. */
export const ADMIN_PORT_VALUES =
  "networkPolicy.adminNamespaces adds Prometheus and ingress controllers, networkPolicy.adminCidrs the API servers";

/** Which peers may connect to the admin port of a service. Empty if the user may not read NetworkPolicies. */
export async function checkAdminPort(
  kube: Pick<KubeClient, "resource">,
  { namespace, service: name }: ServicePlace,
): Promise<readonly Finding[]> {
  try {
    const { spec } = await kube.resource(networkPolicies).get({ namespace, name });
    const rules = spec.ingress?.filter(({ ports = [] }) => ports.some(({ port }) => port === "admin")) ?? [];
    if (rules.some(({ from = [] }) => from.length === 0)) return [openToAll(name)];
    const peers = rules.flatMap(({ from = [] }) => from.flatMap((peer) => namesOf(peer, namespace)));
    const message = `the admin port of ${name} accepts ${[...new Set(peers)].join(", ")}; ${ADMIN_PORT_VALUES}`;
    return [{ area: "network", verdict: "ok", message }];
  } catch (error) {
    if (error instanceof kubeErrors.NotFound) return [openToAll(name)];
    if (error instanceof CodedError) return [];
    throw error;
  }
}

function openToAll(name: string): Finding {
  const message = `every pod of the cluster may connect to the admin port of ${name}`;
  return { area: "network", verdict: "warn", message, fix: "Upgrade the release with networkPolicy.enabled=true." };
}

/** The names of peers that the chart writes. Others are shown unchanged. */
function namesOf(peer: Peer, namespace: string): readonly string[] {
  if (peer.ipBlock !== undefined) return [peer.ipBlock.cidr];
  const byName = peer.namespaceSelector?.matchExpressions?.find(({ key }) => key === "kubernetes.io/metadata.name");
  if (byName?.values !== undefined) return byName.values;
  const isOwnNamespace = peer.namespaceSelector === undefined && JSON.stringify(peer.podSelector) === "{}";
  return [isOwnNamespace ? namespace : JSON.stringify(peer)];
}
