import { join } from "node:path";

/** Resources of one real node outside its run folder. Each name contains the run's id, so that runs never conflict. */
export interface NodePlaces {
  /**
   * Sockets and state that are invalid after a boot. The path is short, because that of a Unix socket has at most 107
   * bytes.
   */
  readonly runtime: string;
  /** File that keeps the node's network namespace open. */
  readonly netns: string;
  readonly containerdSocket: string;
  /** Name of the machine's end of the link to the node. */
  readonly hostLink: string;
  /** Name of the folder with all containers in each cgroup hierarchy. */
  readonly cgroup: string;
  /** Name of the pods' network, the prefix of its cached results. */
  readonly podNetwork: string;
}

/** Parent of the runtime folders of all nodes. */
export const RUNTIME_FOLDERS = "/run/evenkeel";

/** Name of the node's end of the link. */
export const NODE_LINK = "node0";

/** The name of the only node. */
export const NODE_NAME = "node-0";

export function placesOf(runId: string): NodePlaces {
  const id = runId.slice(runId.lastIndexOf("-") + 1);
  const runtime = join(RUNTIME_FOLDERS, id);
  return {
    runtime,
    netns: join(runtime, "net"),
    containerdSocket: join(runtime, "containerd.sock"),
    hostLink: `ek-${id}`,
    cgroup: `evenkeel-${id}`,
    podNetwork: `evenkeel-${id}`,
  };
}
