import { keepOnly, type Node, nodes, type Pod, pods, type ReadStore } from "@evenkeel/kube";
import type { OperatorFrame } from "@evenkeel/operator";
import { amounts } from "@evenkeel/placement";
import type { NodeReading } from "../decide/snapshot.ts";
import type { Room } from "../decide/standing.ts";
import { NodeRequests } from "./node-requests.ts";

const REGION = "topology.kubernetes.io/region";

/** The nodes of the own cluster and what is left on each. */
export class ClusterNodes {
  readonly #nodes: ReadStore<Node>;
  readonly #pods: ReadStore<Pod>;
  readonly #requests: NodeRequests;

  constructor(reflect: OperatorFrame["reflect"]) {
    this.#nodes = reflect(nodes, {
      selection: {},
      transform: keepOnly(
        "metadata.labels",
        "spec.unschedulable",
        "status.allocatable",
        "status.capacity",
        "status.conditions",
      ),
    });
    this.#pods = reflect(pods, {
      selection: {},
      transform: keepOnly(
        "spec.nodeName",
        "spec.overhead",
        "spec.resources",
        ...["spec.containers", "spec.initContainers"].flatMap((list) => [
          `${list}.name`,
          `${list}.resources`,
          `${list}.restartPolicy`,
        ]),
        "status.phase",
        "status.resources",
        ...["status.containerStatuses", "status.initContainerStatuses"].flatMap((list) => [
          `${list}.name`,
          `${list}.resources`,
          `${list}.allocatedResources`,
        ]),
      ),
    });
    this.#requests = new NodeRequests(this.#pods);
  }

  /** Resolves when nodes and pods are known. */
  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#nodes.whenSynced(signal), this.#pods.whenSynced(signal)]);
  }

  /** The region label of each node that has one. */
  regions(): readonly string[] {
    return Array.from(this.#nodes.values(), ({ metadata }) => metadata.labels?.[REGION] ?? "").filter(Boolean);
  }

  /** By name. Watts are not known here. */
  read(): readonly NodeReading[] {
    return Array.from(this.#nodes.values(), (node) => {
      const { metadata, spec, status } = node;
      const name = metadata.name ?? "";
      const { cpu = 0, memory = 0, pods: most = 0 } = amounts(status?.allocatable);
      const requested = this.#requests.of(name);
      const whole = { cpu: cpu || 0, memory: memory || 0, pods: most || 0 };
      const isReady = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
      return {
        name,
        watts: null,
        marginalWatts: null,
        fault: null,
        schedulable: isReady && spec?.unschedulable !== true,
        free: less(whole, requested),
        whole,
        capacity: (amounts(status?.capacity)["cpu"] || 0) / 1000,
      };
    }).sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

/** Never below 0: a node whose allocatable shrank below its requests has no room. */
function less(whole: Room, requested: Room): Room {
  return {
    cpu: Math.max(0, whole.cpu - requested.cpu),
    memory: Math.max(0, whole.memory - requested.memory),
    pods: Math.max(0, whole.pods - requested.pods),
  };
}
