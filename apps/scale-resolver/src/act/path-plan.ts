import { type EndpointSlice, ownerReference, type Service } from "@evenkeel/kube";
import { boundedName, LONGEST_NAME } from "../bounded-name.ts";
import type { PortRecord, StoredElastiService } from "../elasti-service-resource.ts";
import type { ResolverEndpoint } from "../observe/resolver-endpoints.ts";
import { MANAGED_BY, MANAGER, SERVICE_NAME } from "../observe/slice-labels.ts";

/** What the resolver's part in the path of a Service depends on. */
export interface PathInput {
  readonly object: StoredElastiService;
  readonly service: Service;
  readonly ports: readonly PortRecord[];
  readonly resolvers: readonly ResolverEndpoint[];
}

type Family = ResolverEndpoint["family"];
type SlicePort = NonNullable<EndpointSlice["ports"]>[number];
type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number];

/** As many endpoints as Kubernetes' own controller puts into one slice. */
const ENDPOINTS_A_SLICE = 100;

/**
 * The EndpointSlices that put the resolver into a Service's path: for each family that the Service has, its TCP ports led to the resolver's ports
 * for them. A family in which no resolver is reached gets none, and neither does a Service of which no port was given a resolver's port.
 */
export function pathSlices(input: PathInput): readonly EndpointSlice[] {
  const ports = portsOf(input);
  if (ports.length === 0) return [];
  return familiesOf(input.service).flatMap((family) => {
    const endpoints = input.resolvers.filter((resolver) => resolver.family === family).map(endpointOf);
    return chunks(endpoints).map((part, index) => sliceOf(input, family, index, part, ports));
  });
}

/** A slice of the resolver's that leads nowhere any more but to `left`: its other endpoints are not ready. */
export function closedSlice(slice: EndpointSlice, left: ReadonlySet<string>): EndpointSlice {
  const conditions = { ready: false, serving: false, terminating: false };
  const endpoints = (slice.endpoints ?? []).map((endpoint) =>
    left.has(endpoint.addresses[0] ?? "") ? endpoint : { ...endpoint, conditions },
  );
  return { ...slice, endpoints };
}

/** Families of a Service in which no resolver is reached: their clients find nothing while the service sleeps. */
export function leftOutFamilies(service: Service, resolvers: readonly ResolverEndpoint[]): readonly Family[] {
  return familiesOf(service).filter((family) => !resolvers.some((resolver) => resolver.family === family));
}

/** Whether two slices lead the same way. What the API server or others put beside does not count. */
export function leadsAlike(one: EndpointSlice, other: EndpointSlice): boolean {
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

/** Said in full: not every reader of slices takes absence for ready, Traefik for one. */
function endpointOf({ address, nodeName, targetRef }: ResolverEndpoint): Endpoint {
  return {
    addresses: [address],
    conditions: { ready: true, serving: true, terminating: false },
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
  const count = Math.ceil(endpoints.length / ENDPOINTS_A_SLICE);
  return Array.from({ length: count }, (_, index) =>
    endpoints.slice(index * ENDPOINTS_A_SLICE, (index + 1) * ENDPOINTS_A_SLICE),
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
