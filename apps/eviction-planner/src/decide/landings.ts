import { Placement } from "@evenkeel/placement";
import { type ClusterSnapshot, NONE, POD } from "./snapshot.ts";

/** A node where the replacement of a pod may come to run. */
export interface PossibleNode {
  readonly node: number;
  readonly probability: number;
}

/** Where replacements of pods land, after the moves that were made so far. */
export interface Landings {
  /** Most likely first, and no more than `most`; empty if no node is feasible. The pod's own node may be among them. */
  of(pod: number, most?: number): readonly PossibleNode[];
  /** The pod is gone from its node, and its replacement runs on `to`. */
  move(pod: number, to: number): void;
  takeBack(pod: number, to: number): void;
}

/** Nodes beyond these are less likely, and share the fate of those that are named. */
const MOST_NODES = 16;

/** Landings as the default kube-scheduler chooses them. */
export class ScheduledLandings implements Landings {
  readonly #cluster: ClusterSnapshot;
  readonly #placement: Placement;

  constructor(cluster: ClusterSnapshot) {
    const { nodes, shapes, namespaces, pods } = cluster;
    this.#cluster = cluster;
    this.#placement = new Placement(nodes, shapes, namespaces);
    for (let pod = 0; pod < pods.uid.length; pod += 1) {
      const [shape, node] = [pods.shape[pod] as number, pods.node[pod] as number];
      if (node === NONE) continue;
      this.#placement.add(shape, node);
      if (((pods.flags[pod] as number) & POD.terminating) !== 0) this.#placement.terminate(shape, node);
    }
  }

  of(pod: number, most = MOST_NODES): readonly PossibleNode[] {
    const { pods, owners } = this.#cluster;
    // A ReplicaSet replaces a pod while it terminates, a StatefulSet after it is gone.
    const departure = owners[pods.owner[pod] as number]?.kind === "StatefulSet" ? "gone" : "terminating";
    return this.#placement.landingAfter(pods.shape[pod] as number, pods.node[pod] as number, departure, most);
  }

  move(pod: number, to: number): void {
    const { pods } = this.#cluster;
    this.#placement.remove(pods.shape[pod] as number, pods.node[pod] as number);
    this.#placement.add(pods.shape[pod] as number, to);
  }

  takeBack(pod: number, to: number): void {
    const { pods } = this.#cluster;
    this.#placement.remove(pods.shape[pod] as number, to);
    this.#placement.add(pods.shape[pod] as number, pods.node[pod] as number);
  }
}
