import { join } from "node:path";

/** What one real node has on the machine outside of its run's folder. Each name holds the run's id, so that runs never meet. */
export interface NodePlaces {
  /** Sockets and state that mean nothing after a boot. The path is short, because that of a Unix socket has at most 107 bytes. */
  readonly runtime: string;
  /** File that keeps the node's network namespace. */
  readonly netns: string;
  readonly containerdSocket: string;
  /** Name of the end of the link to the node that is on the machine's side. */
  readonly hostLink: string;
  /** Name of the folder in each cgroup hierarchy under which all containers are. */
  readonly cgroup: string;
  /** Name of the pods' network, with which the names of its cached results begin. */
  readonly podNetwork: string;
}

/** Where the runtime folders of all nodes are. */
export const RUNTIME_FOLDERS = "/run/evenkeel";

/** Name of the end of the link that is in the node's namespace. */
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
