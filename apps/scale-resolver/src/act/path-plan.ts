import { type EndpointSlice, ownerReference, type Service } from "@evenkeel/kube";
import { boundedName, LONGEST_NAME } from "../bounded-name.ts";
import type { PortRecord, StoredElastiService } from "../elasti-service-resource.ts";
import type { ResolverEndpoint } from "../observe/resolver-endpoints.ts";
import { MANAGED_BY, MANAGER, SERVICE_NAME } from "../observe/slice-labels.ts";

/**
 * - `redirect`: the resolver's endpoints are ready, so it gets new connections, all of them if no pod is ready.
 * - `standby`: they are marked as terminating and serving, which nodes use only while a Service has no ready endpoint.
 */
export type PathUse = "redirect" | "standby";

/** Input for the slices that name the resolver as endpoint of a Service. */
export interface PathInput {
  readonly object: StoredElastiService;
  readonly service: Service;
  readonly ports: readonly PortRecord[];
  readonly resolvers: readonly ResolverEndpoint[];
}

type Family = ResolverEndpoint["family"];
type SlicePort = NonNullable<EndpointSlice["ports"]>[number];
type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number];

/** Maximum endpoints per slice, as in the endpoint slice controller of Kubernetes. */
const ENDPOINTS_PER_SLICE = 100;

/**
 * The EndpointSlices that name the resolver as endpoint of a Service. For each address family of the Service, they map
 * its TCP ports to the resolver's ports. A family without a resolver address gets no slice, and neither does a Service
 * without an assigned resolver port.
 */
export function pathSlices(input: PathInput, use: PathUse): readonly EndpointSlice[] {
  const ports = portsOf(input);
  if (ports.length === 0) return [];
  return familiesOf(input.service).flatMap((family) => {
    const endpoints = input.resolvers
      .filter((resolver) => resolver.family === family)
      .map((resolver) => endpointOf(resolver, use));
    return chunks(endpoints).map((part, index) => sliceOf(input, family, index, part, ports));
  });
}

/** The slice with all endpoints marked as not usable, except those at addresses in `left`. Its use stays the same. */
export function closedSlice(slice: EndpointSlice, left: ReadonlySet<string>): EndpointSlice {
  const endpoints = (slice.endpoints ?? []).map((endpoint) =>
    left.has(endpoint.addresses[0] ?? "")
      ? endpoint
      : { ...endpoint, conditions: { ...endpoint.conditions, ready: false, serving: false } },
  );
  return { ...slice, endpoints };
}

/** What a slice with endpoints is for; undefined without endpoints. */
export function useOf({ endpoints }: EndpointSlice): PathUse | undefined {
  const [first] = endpoints ?? [];
  return first && (first.conditions?.terminating === true ? "standby" : "redirect");
}

/**
 * Address families of a Service in which no resolver is reachable. Their clients reach nothing while the service
 * sleeps.
 */
export function leftOutFamilies(service: Service, resolvers: readonly ResolverEndpoint[]): readonly Family[] {
  return familiesOf(service).filter((family) => !resolvers.some((resolver) => resolver.family === family));
}

/** Whether two slices have the same endpoints and ports. Fields of the API server and of other clients are ignored. */
export function hasSameEndpoints(one: EndpointSlice, other: EndpointSlice): boolean {
  return JSON.stringify(essence(one)) === JSON.stringify(essence(other));
}

function familiesOf({ spec }: Service): readonly Family[] {
  const families = (spec?.ipFamilies ?? []).filter((family) => family === "IPv4" || family === "IPv6");
  if (families.length > 0) return families;
  return [spec?.clusterIP?.includes(":") ? "IPv6" : "IPv4"];
}

function portsOf({ service, ports }: PathInput): readonly SlicePort[] {
  return (service.spec?.ports ?? []).flatMap(({ name = "", protocol = "TCP", appProtocol }) => {
    const record = ports.find((one) => one.name === name);
    if (protocol !== "TCP" || record === undefined) return [];
    return [{ name, port: record.port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
}

/** Sets all conditions, because some readers, such as Traefik, do not treat an absent one as ready. */
function endpointOf({ address, nodeName, targetRef }: ResolverEndpoint, use: PathUse): Endpoint {
  return {
    addresses: [address],
    conditions: { ready: use === "redirect", serving: true, terminating: use === "standby" },
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(targetRef === undefined ? {} : { targetRef }),
  };
}

function sliceOf(
  { object, service }: PathInput,
  family: Family,
  index: number,
  endpoints: readonly Endpoint[],
  ports: readonly SlicePort[],
): EndpointSlice {
  const { namespace = "", name = "" } = service.metadata;
  const full = `evenkeel-${name}-${family.toLowerCase()}${index === 0 ? "" : `-${index}`}`;
  const metadata = {
    namespace,
    name: boundedName(full, LONGEST_NAME),
    labels: { [SERVICE_NAME]: name, [MANAGED_BY]: MANAGER },
  };
  const owner = ownerReference(object, { metadata }, { controller: false, blockOwnerDeletion: false });
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { ...metadata, ownerReferences: [owner] },
    addressType: family,
    endpoints,
    ports,
  };
}

function chunks(endpoints: readonly Endpoint[]): readonly (readonly Endpoint[])[] {
  const count = Math.ceil(endpoints.length / ENDPOINTS_PER_SLICE);
  return Array.from({ length: count }, (_, index) =>
    endpoints.slice(index * ENDPOINTS_PER_SLICE, (index + 1) * ENDPOINTS_PER_SLICE),
  );
}

function essence({ metadata, addressType, endpoints, ports }: EndpointSlice): unknown {
  return {
    labels: [SERVICE_NAME, MANAGED_BY].map((label) => metadata.labels?.[label]),
    owners: (metadata.ownerReferences ?? []).map(({ uid }) => uid),
    addressType,
    endpoints: (endpoints ?? []).map(({ addresses, conditions = {}, nodeName, targetRef }) => ({
      addresses,
      conditions: [conditions.ready, conditions.serving, conditions.terminating],
      nodeName,
      pod: targetRef?.uid,
    })),
    ports: (ports ?? []).map(({ name = "", port, protocol = "TCP", appProtocol }) => ({
      name,
      port,
      protocol,
      appProtocol,
    })),
  };
}
