import { join } from "node:path";
import { ControlPlaneError } from "./errors.ts";
import { type Folders, foldersFrom, runsFolder } from "./folders.ts";
import { type KubectlOptions, type KubectlResult, runKubectl } from "./kubectl.ts";
import { killContainers, loadImage } from "./node/real-node.ts";
import { RunFolder } from "./run-folder.ts";
import type { RunRecord } from "./run-record.ts";

/** Access to a running cluster for every process of its user, whichever started it. `openCluster` finds one. */
export class ClusterAccess {
  protected readonly folder: RunFolder;
  readonly #record: Pick<RunRecord, "name" | "server" | "bin" | "realNode">;

  constructor(folder: RunFolder, record: Pick<RunRecord, "name" | "server" | "bin" | "realNode">) {
    this.folder = folder;
    this.#record = record;
  }

  /** Unique for each run. */
  get id(): string {
    return this.folder.id;
  }

  get name(): string {
    return this.#record.name;
  }

  /** Base URL of kube-apiserver, such as https://127.0.0.1:23456. It stays the same over restarts. */
  get server(): string {
    return this.#record.server;
  }

  /** PEM file of the CA of kube-apiserver and its clients. */
  get caFile(): string {
    return this.folder.file("pki", "ca.crt");
  }

  /** Path of the administrator's kubeconfig: a member of system:masters, without limits. */
  get kubeconfig(): string {
    return this.folder.kubeconfig;
  }

  /** Folder with the log of each component. It remains after the cluster has stopped. */
  get logs(): string {
    return this.folder.logs;
  }

  /** Folder of kubectl and the other programs, for the PATH. */
  get bin(): string {
    return this.#record.bin;
  }

  /** Whether pods run, and images can be loaded. */
  get hasRealNode(): boolean {
    return this.#record.realNode !== null;
  }

  /** Runs the pinned kubectl. Any exit code is a result, not an error. */
  async kubectl(args: readonly string[], options: KubectlOptions = {}): Promise<KubectlResult> {
    const environment = {
      ...process.env,
      KUBECONFIG: options.kubeconfig ?? this.kubeconfig,
      KUBECACHEDIR: this.folder.file("kubectl-cache"),
    };
    return runKubectl(join(this.bin, "kubectl"), args, environment, options);
  }

  /** Loads an image into the real node from an archive of `make images` or `docker save`. */
  async loadImage(archive: string): Promise<void> {
    await loadImage(this.folder, this.#ctr, archive);
  }

  /** Kills the processes of a pod on the real node with SIGKILL. The kubelet starts its containers again. */
  async killContainers(namespace: string, pod: string): Promise<void> {
    await killContainers(this.folder, this.#ctr, namespace, pod);
  }

  /** The program that reaches the containers of the real node. */
  get #ctr(): string {
    const { realNode, name } = this.#record;
    if (realNode !== null) return join(realNode.bin, "ctr");
    const message = `cluster ${name} has KWOK nodes, which run no images; start one with a real node: make cluster NODE=real`;
    throw new ControlPlaneError("EK_CLUSTER_OPTION", message);
  }
}

/** The running cluster with that id, or the kept cluster with that name; undefined if not found. */
export function openCluster(idOrName: string, folders: Folders = foldersFrom(process.env)): ClusterAccess | undefined {
  const run = RunFolder.list(runsFolder(folders)).find(
    ({ state, folder, record }) =>
      state === "running" && (folder.id === idOrName || (record.owner === null && record.name === idOrName)),
  );
  return run === undefined ? undefined : new ClusterAccess(run.folder, run.record);
}
