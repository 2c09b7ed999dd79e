import type { EndpointSlice } from "@evenkeel/kube";
import type { Pods } from "../decide/snapshot.ts";
import type { ServiceEndpoint } from "./endpoints.ts";
import { originalSliceName } from "./original-names.ts";
import { MANAGED_BY, MANAGER, SERVICE_NAME } from "./slice-labels.ts";

type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number];

/**
 * The pods behind a Service, from its EndpointSlices; those that lead to a resolver, `ownManager`'s or KubeElasti's, are left out.
 *
 * A pod is there once, under its first address (IPv4 before IPv6), although it may be in several slices: it has two families, or is being moved from one slice
 * to another. While those differ, one that says ready counts, and one that says terminating does before it, since there is no way back from that.
 */
export function serviceEndpoints(slices: Iterable<EndpointSlice>, ownManager = MANAGER): ServiceEndpoint[] {
  const found = new Map<string, ServiceEndpoint>();
  /** By address, under what its endpoint was found: its pod's uid, or the address where that is not said. */
  const keys = new Map<string, string>();
  for (const slice of ordered(slices)) {
    if (isRedirected(slice, ownManager)) continue;
    const ports = portsOf(slice);
    for (const endpoint of slice.endpoints ?? []) {
      const next = endpointOf(endpoint, ports);
      if (next === undefined) continue;
      const known = keys.get(next.address);
      // The address of a pod that is gone may be another's by now: their uids tell them apart.
      const isSame = known !== undefined && (next.uid === "" || known === next.address);
      const key = isSame ? known : next.uid || next.address;
      keys.set(next.address, key);
      const first = found.get(key);
      found.set(key, first === undefined ? next : merged(first, next));
    }
  }
  return [...found.values()];
}

/** How many of them there are. One that goes and does not serve any more is none. */
export function podsOf(endpoints: readonly ServiceEndpoint[]): Pods {
  const count = (which: (endpoint: ServiceEndpoint) => boolean) => endpoints.filter(which).length;
  return {
    ready: count(({ ready }) => ready),
    leaving: count(({ ready, serving, terminating }) => !ready && terminating && serving),
    starting: count(({ ready, terminating }) => !ready && !terminating),
  };
}

/** Always the same way, so that a pod with two addresses does not change from one to the other. */
function ordered(slices: Iterable<EndpointSlice>): readonly EndpointSlice[] {
  const rank = ({ addressType, metadata }: EndpointSlice) => `${addressType} ${metadata.name ?? ""}`;
  return [...slices]
    .filter(({ addressType }) => addressType === "IPv4" || addressType === "IPv6")
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

function isRedirected({ metadata: { name, labels } }: EndpointSlice, ownManager: string): boolean {
  return labels?.[MANAGED_BY] === ownManager || name === originalSliceName(labels?.[SERVICE_NAME] ?? "");
}

function portsOf({ ports }: EndpointSlice): Readonly<Record<string, number>> {
  const tcp = (ports ?? []).flatMap(({ name = "", port, protocol = "TCP" }) =>
    port === undefined || protocol !== "TCP" ? [] : [[name, port] as const],
  );
  return Object.fromEntries(tcp);
}

/** What is not said of an endpoint means what Kubernetes defines: ready, serving if ready, not terminating. */
function endpointOf(
  { addresses, conditions = {}, targetRef }: Endpoint,
  ports: ServiceEndpoint["ports"],
): ServiceEndpoint | undefined {
  // There may be more, which nobody may use: https://issues.k8s.io/106267
  const [address] = addresses;
  if (address === undefined) return undefined;
  const terminating = conditions.terminating ?? false;
  const ready = conditions.ready ?? true;
  const serving = conditions.serving ?? ready;
  const isPod = targetRef?.kind === "Pod";
  const pod = { pod: isPod ? (targetRef.name ?? "") : "", uid: isPod ? (targetRef.uid ?? "") : "" };
  // Ready and terminating at once is what publishNotReadyAddresses makes of a pod that goes.
  return { address, ...pod, ready: ready && !terminating, serving, terminating, ports };
}

function merged(first: ServiceEndpoint, next: ServiceEndpoint): ServiceEndpoint {
  const terminating = first.terminating || next.terminating;
  return {
    ...first,
    ready: !terminating && (first.ready || next.ready),
    serving: first.serving || next.serving,
    terminating,
    ports: { ...next.ports, ...first.ports },
  };
}
