import type { EndpointSlice, Service } from "@evenkeel/kube";
import type { TargetGroup } from "../target-group.ts";
import { BackingPods } from "./backing-pods.ts";
import { ADDRESS, hostPort, type LabelDraft, META, NAMESPACE, put, sanitized } from "./meta-labels.ts";
import { addService } from "./service.ts";
import { addNamespace, addNode, type Surroundings } from "./surroundings.ts";

/** The label of a slice that names its Service. */
export const SERVICE_NAME = "kubernetes.io/service-name";

const SLICE = `${META}endpointslice_`;
const ADDRESS_TYPE = `${SLICE}address_type`;
const PORT_NAME = `${SLICE}port_name`;
const PORT_PROTOCOL = `${SLICE}port_protocol`;
const PORT = `${SLICE}port`;
const PORT_APP_PROTOCOL = `${SLICE}port_app_protocol`;
const READY = `${SLICE}endpoint_conditions_ready`;
const SERVING = `${SLICE}endpoint_conditions_serving`;
const TERMINATING = `${SLICE}endpoint_conditions_terminating`;
const HOSTNAME = `${SLICE}endpoint_hostname`;
const NODE_NAME = `${SLICE}endpoint_node_name`;
const ZONE = `${SLICE}endpoint_zone`;
const TOPOLOGY = `${SLICE}endpoint_topology_`;
const TOPOLOGY_PRESENT = `${SLICE}endpoint_topology_present_`;
const TARGET_KIND = `${SLICE}address_target_kind`;
const TARGET_NAME = `${SLICE}address_target_name`;

type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number];
type Port = NonNullable<EndpointSlice["ports"]>[number];

/** Role endpointslice: one target for each address and port, and one for each other port of the pods behind them. */
export function endpointSliceGroup(slice: EndpointSlice, around: Surroundings): TargetGroup {
  const { namespace = "", name = "" } = slice.metadata;
  const source = `endpointslice/${namespace}/${name}`;
  const labels: LabelDraft = new Map();
  put(labels, NAMESPACE, namespace);
  put(labels, ADDRESS_TYPE, slice.addressType);
  around.names.addObject(labels, slice, "endpointslice");
  const serviceName = slice.metadata.labels?.[SERVICE_NAME];
  const service = serviceName === undefined ? undefined : around.service(`${namespace}/${serviceName}`);
  if (service) addService(labels, service, around);
  addNamespace(labels, namespace, around);
  if (service && isSecondFamily(service, slice)) return { source, labels, targets: [] };

  const pods = new BackingPods(around);
  const targets: LabelDraft[] = [];
  // The API server writes an empty list as null.
  for (const endpoint of (slice.endpoints as typeof slice.endpoints | null) ?? [])
    for (const port of slice.ports ?? [])
      for (const address of endpoint.addresses) {
        const target: LabelDraft = new Map();
        put(target, ADDRESS, port.port === undefined ? address : hostPort(address, port.port));
        addPort(target, port);
        addEndpoint(target, endpoint);
        const { targetRef, nodeName } = endpoint;
        addNode(target, targetRef?.kind === "Node" ? targetRef.name : nodeName, around);
        pods.add(target, targetRef, port.port);
        targets.push(target);
      }
  return { source, labels, targets: [...targets, ...pods.otherPorts()] };
}

function addPort(target: LabelDraft, { name, protocol, port, appProtocol }: Port): void {
  put(target, PORT_NAME, name);
  put(target, PORT_PROTOCOL, protocol);
  put(target, PORT, port?.toString());
  put(target, PORT_APP_PROTOCOL, appProtocol);
}

function addEndpoint(target: LabelDraft, endpoint: Endpoint): void {
  const { conditions, hostname, targetRef, nodeName, zone, deprecatedTopology = {} } = endpoint;
  put(target, READY, conditions?.ready?.toString());
  put(target, SERVING, conditions?.serving?.toString());
  put(target, TERMINATING, conditions?.terminating?.toString());
  put(target, HOSTNAME, hostname);
  put(target, TARGET_KIND, targetRef?.kind);
  put(target, TARGET_NAME, targetRef?.name);
  put(target, NODE_NAME, nodeName);
  put(target, ZONE, zone);
  for (const [key, value] of Object.entries(deprecatedTopology)) {
    put(target, TOPOLOGY + sanitized(key), value);
    put(target, TOPOLOGY_PRESENT + sanitized(key), "true");
  }
}

/** Whether the slice has the second addresses of a dual-stack Service: its first ones give the targets already. */
function isSecondFamily({ spec }: Service, { addressType }: EndpointSlice): boolean {
  const policy = spec?.ipFamilyPolicy;
  const [first] = spec?.ipFamilies ?? [];
  const isDual = policy === "PreferDualStack" || policy === "RequireDualStack";
  return isDual && first !== undefined && addressType !== first;
}
