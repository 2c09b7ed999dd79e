import { join } from "node:path";
import { bringUp, type Toolsets } from "./bring-up.ts";
import { buildBinaries, buildNodeBinaries } from "./build.ts";
import type { Cluster } from "./cluster.ts";
import { checkOptions, type ClusterOptions } from "./cluster-options.ts";
import { ControlPlaneError } from "./errors.ts";
import { type Folders, foldersFrom, runsFolder } from "./folders.ts";
import { withLock } from "./lock.ts";
import { whyNoRealNode } from "./node/requirements.ts";
import { type FoundRun, RunFolder } from "./run-folder.ts";
import { sweepStaleRuns } from "./sweep.ts";
import { requireWhole, toolsetIn } from "./toolset.ts";

/** Maximum attempts to start if another process uses a port between its choice and its use. */
const PORT_TRIES = 5;

/**
 * Starts etcd, kube-apiserver, kube-controller-manager and kube-scheduler, and KWOK or a real node, and resolves when
 * nodes are ready and pods can be created. First builds missing programs, which takes minutes and is reported to
 * `progress`, and cleans up after earlier owners. If anything fails, no process is left.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  checkOptions(options);
  const { folders = foldersFrom(process.env), name = "evenkeel", keep = false, progress = () => undefined } = options;
  const toolsets = await toolsetsFor(options, folders);
  for (const { id, ended } of await sweepStaleRuns(folders)) {
    progress(`cleaned up ${id} after its owner exited: ${ended.length} processes ended`);
  }

  const start = (): Promise<Cluster> =>
    retryTakenPorts(options.apiserverPort === undefined ? PORT_TRIES : 1, () =>
      bringUp({ ...options, name, keep, progress }, toolsets, folders),
    );
  if (!keep) return start();
  return withLock(join(folders.state, "names", `${name}.lock`), async () => {
    const running = findKept(runsFolder(folders), name);
    if (running !== undefined) {
      const { kubeconfig } = running.folder;
      throw new ControlPlaneError(
        "EK_CLUSTER_NAME_TAKEN",
        `cluster ${name} is already running; its kubeconfig is ${kubeconfig}`,
      );
    }
    return start();
  });
}

/** The kept cluster of that name, if one runs. */
export function findKept(runs: string, name: string): FoundRun | undefined {
  return RunFolder.list(runs).find(
    ({ state, record }) => state === "running" && record.owner === null && record.name === name,
  );
}

/** Repeats a start that failed because of a port in use. The next attempt selects another. */
export async function retryTakenPorts<T>(tries: number, start: () => Promise<T>): Promise<T> {
  for (let left = tries - 1; ; left -= 1) {
    try {
      return await start();
    } catch (error) {
      if (left <= 0 || !(error instanceof ControlPlaneError) || error.code !== "EK_CLUSTER_PORT_TAKEN") throw error;
    }
  }
}

async function toolsetsFor({ node, toolset, progress }: ClusterOptions, folders: Folders): Promise<Toolsets> {
  const options = { folders, ...(progress === undefined ? {} : { progress }) };
  if (node === "real") {
    const why = whyNoRealNode(folders);
    if (why !== undefined) throw new ControlPlaneError("EK_CLUSTER_REAL_NODE", why);
    return { cluster: await buildBinaries(options), node: await buildNodeBinaries(options) };
  }
  if (toolset === undefined) return { cluster: await buildBinaries(options), node: undefined };
  const named = toolsetIn(toolset);
  requireWhole(named);
  return { cluster: named, node: undefined };
}
