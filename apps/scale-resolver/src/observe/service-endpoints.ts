import type { EndpointSlice } from "@evenkeel/kube";
import type { Pods } from "../decide/snapshot.ts";
import type { ServiceEndpoint } from "./endpoints.ts";
import { originalSliceName } from "./original-names.ts";
import { MANAGED_BY, MANAGER, SERVICE_NAME } from "./slice-labels.ts";

type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number];

/**
 * The pods behind a Service, from its EndpointSlices. Slices that point at a resolver, `ownManager`'s or KubeElasti's,
 * are ignored.
 *
 * A pod is listed once, with its first address (IPv4 before IPv6). It may be in several slices, because it has two
 * families or is being moved between slices. If the slices differ, terminating has priority over ready, because a pod
 * cannot leave that state.
 */
export function serviceEndpoints(slices: Iterable<EndpointSlice>, ownManager = MANAGER): ServiceEndpoint[] {
  const found = new Map<string, ServiceEndpoint>();
  /** The key of each endpoint by address: the uid of its pod, or the address if there is no uid. */
  const keys = new Map<string, string>();
  for (const slice of ordered(slices)) {
    if (isRedirected(slice, ownManager)) continue;
    const ports = portsOf(slice);
    for (const endpoint of slice.endpoints ?? []) {
      const next = endpointOf(endpoint, ports);
      if (next === undefined) continue;
      const known = keys.get(next.address);
      // The address of a deleted pod may belong to another pod by now. The uid tells them apart.
      const isSame = known !== undefined && (next.uid === "" || known === next.address);
      const key = isSame ? known : next.uid || next.address;
      keys.set(next.address, key);
      const first = found.get(key);
      found.set(key, first === undefined ? next : merged(first, next));
    }
  }
  return [...found.values()];
}

/** Counts the pods. A terminating pod that no longer serves is not counted. */
export function podsOf(endpoints: readonly ServiceEndpoint[]): Pods {
  const count = (which: (endpoint: ServiceEndpoint) => boolean) => endpoints.filter(which).length;
  return {
    ready: count(({ ready }) => ready),
    leaving: count(({ ready, serving, terminating }) => !ready && terminating && serving),
    starting: count(({ ready, terminating }) => !ready && !terminating),
  };
}

/** A fixed order, so that a pod with two addresses always gets the same one. */
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

/** Defaults for absent conditions, as Kubernetes defines them: ready, serving if ready, not terminating. */
function endpointOf(
  { addresses, conditions = {}, targetRef }: Endpoint,
  ports: ServiceEndpoint["ports"],
): ServiceEndpoint | undefined {
  // Further addresses must not be used: https://issues.k8s.io/106267
  const [address] = addresses;
  if (address === undefined) return undefined;
  const terminating = conditions.terminating ?? false;
  const ready = conditions.ready ?? true;
  const serving = conditions.serving ?? ready;
  const isPod = targetRef?.kind === "Pod";
  const pod = { pod: isPod ? (targetRef.name ?? "") : "", uid: isPod ? (targetRef.uid ?? "") : "" };
  // With publishNotReadyAddresses, a terminating pod is marked ready.
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
