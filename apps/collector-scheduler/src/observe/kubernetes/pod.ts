import { controllerOf, type Pod } from "@evenkeel/kube";
import type { TargetGroup } from "../target-group.ts";
import { ADDRESS, hostPort, type LabelDraft, META, NAMESPACE, put } from "./meta-labels.ts";
import { addNamespace, addNode, type Surroundings } from "./surroundings.ts";

const POD_CONTAINER_ID = `${META}pod_container_id`;
const POD_CONTAINER_IMAGE = `${META}pod_container_image`;
const POD_CONTAINER_INIT = `${META}pod_container_init`;
const POD_CONTAINER_NAME = `${META}pod_container_name`;
const POD_CONTAINER_PORT_NAME = `${META}pod_container_port_name`;
const POD_CONTAINER_PORT_NUMBER = `${META}pod_container_port_number`;
const POD_CONTAINER_PORT_PROTOCOL = `${META}pod_container_port_protocol`;
const POD_CONTROLLER_KIND = `${META}pod_controller_kind`;
const POD_CONTROLLER_NAME = `${META}pod_controller_name`;
const POD_CRONJOB_NAME = `${META}pod_cronjob_name`;
const POD_DEPLOYMENT_NAME = `${META}pod_deployment_name`;
const POD_HOST_IP = `${META}pod_host_ip`;
const POD_IP = `${META}pod_ip`;
const POD_JOB_NAME = `${META}pod_job_name`;
const POD_NODE_NAME = `${META}pod_node_name`;
const POD_PHASE = `${META}pod_phase`;
const POD_READY = `${META}pod_ready`;
const POD_UID = `${META}pod_uid`;

/** What `addContainer` and `addContainerPort` set. */
export const CONTAINER_LABELS = [
  POD_CONTAINER_NAME,
  POD_CONTAINER_IMAGE,
  POD_CONTAINER_INIT,
  POD_CONTAINER_PORT_NAME,
  POD_CONTAINER_PORT_NUMBER,
  POD_CONTAINER_PORT_PROTOCOL,
];

type Container = NonNullable<Pod["spec"]>["containers"][number];
export type ContainerPort = NonNullable<Container["ports"]>[number];

/** Role pod: one target for each port of each container, and one without a port for a container that has none. */
export function podGroup(pod: Pod, around: Surroundings): TargetGroup {
  const { namespace = "", name = "" } = pod.metadata;
  const source = `pod/${namespace}/${name}`;
  const ip = pod.status?.podIP ?? "";
  // With node metadata, a node that is not seen was excluded by the node selector.
  const isExcluded = around.node !== undefined && around.node(pod.spec?.nodeName ?? "") === undefined;
  if (ip === "" || isExcluded) return { source, labels: new Map(), targets: [] };

  const labels: LabelDraft = new Map();
  addPod(labels, pod, around);
  put(labels, NAMESPACE, namespace);
  addNode(labels, pod.spec?.nodeName, around);
  addNamespace(labels, namespace, around);

  const targets = containersOf(pod).flatMap(({ container, isInit, id }) => {
    const ports = container.ports ?? [];
    return (ports.length === 0 ? [undefined] : ports).map((port) => {
      const target: LabelDraft = new Map();
      put(target, ADDRESS, port === undefined ? ip : hostPort(ip, port.containerPort));
      addContainer(target, container, isInit);
      put(target, POD_CONTAINER_ID, id);
      if (port) addContainerPort(target, port);
      return target;
    });
  });
  return { source, labels, targets };
}

/** The labels of a pod, without its namespace. */
export function addPod(labels: LabelDraft, pod: Pod, around: Surroundings): void {
  const { status, spec } = pod;
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status ?? "Unknown";
  put(labels, POD_IP, status?.podIP);
  put(labels, POD_READY, ready.toLowerCase());
  put(labels, POD_PHASE, status?.phase);
  put(labels, POD_NODE_NAME, spec?.nodeName);
  put(labels, POD_HOST_IP, status?.hostIP);
  put(labels, POD_UID, pod.metadata.uid);
  around.names.addObject(labels, pod, "pod");
  addController(labels, pod, around);
}

function addController(labels: LabelDraft, pod: Pod, { replicaSet, job, attachJob }: Surroundings): void {
  const controller = controllerOf(pod);
  if (!controller) return;
  const { kind, name } = controller;
  put(labels, POD_CONTROLLER_KIND, kind);
  put(labels, POD_CONTROLLER_NAME, name);
  const key = `${pod.metadata.namespace ?? ""}/${name}`;
  if (kind === "ReplicaSet") put(labels, POD_DEPLOYMENT_NAME, ownerOf(replicaSet?.(key), "Deployment"));
  if (kind === "Job") {
    if (attachJob) put(labels, POD_JOB_NAME, name);
    put(labels, POD_CRONJOB_NAME, ownerOf(job?.(key), "CronJob"));
  }
}

function ownerOf(object: Parameters<typeof controllerOf>[0] | undefined, kind: string): string | undefined {
  const owner = object && controllerOf(object);
  return owner?.kind === kind ? owner.name : undefined;
}

interface PodContainer {
  readonly container: Container;
  readonly isInit: boolean;
  readonly id: string | undefined;
}

/** Containers first, then init containers. */
export function containersOf({ spec, status }: Pod): readonly PodContainer[] {
  const listed = (containers: readonly Container[] = [], statuses: typeof running = [], isInit: boolean) =>
    containers.map((container) => ({
      container,
      isInit,
      id: statuses.find(({ name }) => name === container.name)?.containerID,
    }));
  const running = status?.containerStatuses;
  return [
    ...listed(spec?.containers, running, false),
    ...listed(spec?.initContainers, status?.initContainerStatuses, true),
  ];
}

export function addContainer(labels: LabelDraft, { name, image }: Container, isInit: boolean): void {
  put(labels, POD_CONTAINER_NAME, name);
  put(labels, POD_CONTAINER_IMAGE, image);
  labels.set(POD_CONTAINER_INIT, String(isInit));
}

export function addContainerPort(labels: LabelDraft, port: Partial<ContainerPort>): void {
  put(labels, POD_CONTAINER_PORT_NAME, port.name);
  put(labels, POD_CONTAINER_PORT_NUMBER, port.containerPort?.toString());
  put(labels, POD_CONTAINER_PORT_PROTOCOL, port.protocol);
}
