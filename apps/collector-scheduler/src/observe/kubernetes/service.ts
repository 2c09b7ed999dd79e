import type { Service } from "@evenkeel/kube";
import type { TargetGroup } from "../target-group.ts";
import { ADDRESS, hostPort, type LabelDraft, META, NAMESPACE, put } from "./meta-labels.ts";
import { addNamespace, type Surroundings } from "./surroundings.ts";

const PORT_NAME = `${META}service_port_name`;
const PORT_NUMBER = `${META}service_port_number`;
const PORT_PROTOCOL = `${META}service_port_protocol`;
const TYPE = `${META}service_type`;
const CLUSTER_IP = `${META}service_cluster_ip`;
const EXTERNAL_NAME = `${META}service_external_name`;
const LOAD_BALANCER_IP = `${META}service_loadbalancer_ip`;

/** Role service: one target for each port of a Service, by its name in the cluster. */
export function serviceGroup(service: Service, around: Surroundings): TargetGroup {
  const { namespace = "", name = "" } = service.metadata;
  const { ports = [], type, clusterIP, externalName } = service.spec ?? {};
  const labels: LabelDraft = new Map();
  addService(labels, service, around);
  addNamespace(labels, namespace, around);
  const targets = ports.map((port) => {
    const target: LabelDraft = new Map();
    put(target, ADDRESS, hostPort(`${name}.${namespace}.svc`, port.port));
    put(target, PORT_NAME, port.name);
    put(target, PORT_NUMBER, String(port.port));
    put(target, PORT_PROTOCOL, port.protocol);
    put(target, TYPE, type);
    if (type === "ExternalName") put(target, EXTERNAL_NAME, externalName);
    else put(target, CLUSTER_IP, clusterIP);
    if (type === "LoadBalancer") put(target, LOAD_BALANCER_IP, loadBalancerIps(service));
    return target;
  });
  return { source: `svc/${namespace}/${name}`, labels, targets };
}

/** The labels of a Service that all its targets have. */
export function addService(labels: LabelDraft, service: Service, { names }: Surroundings): void {
  put(labels, NAMESPACE, service.metadata.namespace);
  names.addObject(labels, service, "service");
}

function loadBalancerIps({ spec, status }: Service): string | undefined {
  const ips = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip = "" }) => (ip === "" ? [] : [ip]));
  return ips.length > 0 ? ips.join(",") : spec?.loadBalancerIP;
}
