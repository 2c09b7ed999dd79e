import type { Endpoints } from "@evenkeel/kube";
import type { TargetGroup } from "../target-group.ts";
import { BackingPods } from "./backing-pods.ts";
import { ADDRESS, hostPort, type LabelDraft, META, NAMESPACE, put } from "./meta-labels.ts";
import { addService } from "./service.ts";
import { addNamespace, addNode, type Surroundings } from "./surroundings.ts";

const PORT_NAME = `${META}endpoint_port_name`;
const PORT_PROTOCOL = `${META}endpoint_port_protocol`;
const READY = `${META}endpoint_ready`;
const TARGET_KIND = `${META}endpoint_address_target_kind`;
const TARGET_NAME = `${META}endpoint_address_target_name`;
const NODE_NAME = `${META}endpoint_node_name`;
const HOSTNAME = `${META}endpoint_hostname`;

type Subset = NonNullable<Endpoints["subsets"]>[number];
type Address = NonNullable<Subset["addresses"]>[number];
type Port = NonNullable<Subset["ports"]>[number];

/** Role endpoints: one target for each address and port, and one for each other port of the pods behind them. */
export function endpointsGroup(endpoints: Endpoints, around: Surroundings): TargetGroup {
  const { namespace = "", name = "" } = endpoints.metadata;
  const labels: LabelDraft = new Map();
  put(labels, NAMESPACE, namespace);
  const service = around.service(`${namespace}/${name}`);
  if (service) addService(labels, service, around);
  around.names.addObject(labels, endpoints, "endpoints");
  addNamespace(labels, namespace, around);

  const pods = new BackingPods(around);
  const targetOf = (address: Address, port: Port, isReady: boolean): LabelDraft => {
    const { ip, hostname, nodeName, targetRef } = address;
    const target: LabelDraft = new Map();
    put(target, ADDRESS, hostPort(ip, port.port));
    put(target, PORT_NAME, port.name);
    put(target, PORT_PROTOCOL, port.protocol);
    put(target, READY, String(isReady));
    put(target, TARGET_KIND, targetRef?.kind);
    put(target, TARGET_NAME, targetRef?.name);
    put(target, NODE_NAME, nodeName);
    put(target, HOSTNAME, hostname);
    addNode(target, nodeName ?? (targetRef?.kind === "Node" ? targetRef.name : undefined), around);
    pods.add(target, targetRef, port.port, port.protocol ?? "");
    return target;
  };
  const targets = (endpoints.subsets ?? []).flatMap(({ ports = [], addresses = [], notReadyAddresses = [] }) =>
    ports.flatMap((port) => [
      ...addresses.map((address) => targetOf(address, port, true)),
      ...notReadyAddresses.map((address) => targetOf(address, port, false)),
    ]),
  );
  return { source: `endpoints/${namespace}/${name}`, labels, targets: [...targets, ...pods.otherPorts()] };
}
