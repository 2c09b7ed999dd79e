import { isIP } from "node:net";
import type { EndpointSlice } from "@evenkeel/kube";

type TargetRef = NonNullable<NonNullable<EndpointSlice["endpoints"]>[number]["targetRef"]>;

/** An address at which a replica of this program accepts requests. */
export interface ResolverEndpoint {
  readonly family: "IPv4" | "IPv6";
  readonly address: string;
  /** The same for all addresses of one replica. */
  readonly replica: string;
  readonly nodeName?: string;
  readonly targetRef?: TargetRef;
}

/**
 * Addresses of the ready replicas, by family, from the EndpointSlices of the resolver's own Service. This replica, with
 * `podIps`, counts as ready, although the kubelet may report it only after its next probe. Without such a Service
 * (`slices` is null), only this replica is returned.
 */
export function resolverEndpoints(
  slices: Iterable<EndpointSlice> | null,
  podIps: readonly string[],
): readonly ResolverEndpoint[] {
  const all =
    slices === null
      ? podIps.flatMap((ip) => endpointAt(ip, "self"))
      : [...slices].flatMap((slice) => readyIn(slice, podIps));
  const byPlace = new Map(all.map((endpoint) => [`${endpoint.family} ${endpoint.address}`, endpoint]));
  return [...byPlace].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, endpoint]) => endpoint);
}

/**
 * Leaves out replicas that are silent, by the names of their pods. If all replicas of an address family are silent,
 * they stay: clients of that family have no other.
 */
export function withoutSilent(
  endpoints: readonly ResolverEndpoint[],
  silent: ReadonlySet<string>,
): readonly ResolverEndpoint[] {
  const heard = endpoints.filter(({ targetRef }) => !silent.has(targetRef?.name ?? ""));
  return endpoints.filter(
    (endpoint) => heard.includes(endpoint) || !heard.some(({ family }) => family === endpoint.family),
  );
}

/** Addresses of terminating replicas that still accept requests, for when no replica is ready. */
export function terminatingAddresses(slices: Iterable<EndpointSlice> | null): ReadonlySet<string> {
  const leaving = [...(slices ?? [])].flatMap(({ endpoints }) =>
    (endpoints ?? []).filter(({ conditions }) => conditions?.terminating === true && conditions.serving === true),
  );
  return new Set(leaving.flatMap(({ addresses }) => addresses.slice(0, 1)));
}

/** Counts a replica with two address families once. */
export function countReplicas(endpoints: readonly ResolverEndpoint[]): number {
  return new Set(endpoints.map(({ replica }) => replica)).size;
}

function readyIn({ endpoints }: EndpointSlice, podIps: readonly string[]): readonly ResolverEndpoint[] {
  return (endpoints ?? []).flatMap(({ addresses, conditions = {}, nodeName, targetRef }) => {
    const { ready = true, terminating = false } = conditions;
    const [address = ""] = addresses;
    if (terminating || !(ready || podIps.includes(address))) return [];
    return endpointAt(address, targetRef?.uid ?? address).map((endpoint) => ({
      ...endpoint,
      ...(nodeName === undefined ? {} : { nodeName }),
      ...(targetRef === undefined ? {} : { targetRef }),
    }));
  });
}

function endpointAt(address: string, replica: string): readonly ResolverEndpoint[] {
  const version = isIP(address);
  return version === 0 ? [] : [{ family: version === 4 ? "IPv4" : "IPv6", address, replica }];
}
