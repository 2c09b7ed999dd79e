import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { CertificateAuthority, CertificateFiles } from "../certificates.ts";
import type { Component } from "../component.ts";
import { writeKubeconfig } from "../kubeconfig.ts";
import type { RunFolder } from "../run-folder.ts";
import type { ComponentName } from "../run-record.ts";
import type { NodeToolset } from "../toolset.ts";
import { createCgroup } from "./cgroups.ts";
import { saveKernelSettings } from "./kernel-settings.ts";
import { createNetwork, type NodeNetwork } from "./network.ts";
import { createNodeComponents } from "./node-components.ts";
import { writeNodeFiles } from "./node-files.ts";
import { NODE_NAME, placesOf } from "./places.ts";
import { pluginFolder } from "./requirements.ts";

const run = promisify(execFile);

/** The containerd namespace of Kubernetes. */
const KUBERNETES_NAMESPACE = "k8s.io";

/** Creates the node's network and cgroups. If the start fails later, `removeNode` removes them. */
export async function prepareNode(folder: RunFolder): Promise<NodeNetwork> {
  const places = placesOf(folder.id);
  const network = await createNetwork(places);
  saveKernelSettings(places);
  createCgroup(places.cgroup);
  return network;
}

export interface NodeParts {
  readonly folder: RunFolder;
  readonly network: NodeNetwork;
  readonly toolset: NodeToolset;
  readonly cluster: string;
  readonly server: string;
  readonly authority: CertificateAuthority;
}

/** Writes keys and configuration of containerd, kubelet and kube-proxy, and returns the components to start. */
export async function createNode(parts: NodeParts): Promise<[ComponentName, Component][]> {
  const { folder, network, toolset, cluster, server, authority } = parts;
  const places = placesOf(folder.id);
  const caFile = authority.files.certificate;
  const kubeconfig = async (name: string, user: string, groups: string[]): Promise<string> => {
    const file = folder.file(`${name}.kubeconfig.yaml`);
    const identity = await authority.issueClient(name, { user, groups });
    writeKubeconfig(file, { cluster, server, caFile, user, identity });
    return file;
  };
  const [kubeletServing, kubeletKubeconfig, kubeProxyKubeconfig] = await Promise.all([
    authority.issueServer("kubelet-serving", [`IP:${network.nodeAddress}`, `DNS:${NODE_NAME}`]),
    kubeconfig("kubelet", `system:node:${NODE_NAME}`, ["system:nodes"]),
    kubeconfig("kube-proxy", "system:kube-proxy", []),
  ]);
  const plugins = pluginFolder() ?? "";
  const files = writeNodeFiles({ folder, places, network, plugins, caFile, kubeletServing, kubeProxyKubeconfig });
  return createNodeComponents({ folder, places, network, toolset, files, kubeletKubeconfig });
}

/** The client certificate of kube-apiserver for the kubelet, for logs and exec. */
export async function issueKubeletClient(authority: CertificateAuthority): Promise<CertificateFiles> {
  return authority.issueClient("kube-apiserver-kubelet", { user: "kube-apiserver", groups: ["system:masters"] });
}

/** Loads an image from an archive of `docker save` into the node of a run. */
export async function loadImage(folder: RunFolder, ctr: string, archive: string): Promise<void> {
  await inKubernetes(folder, ctr, "images", "import", archive);
}

/** Kills the processes of a pod's containers with SIGKILL. The kubelet starts them again. */
export async function killContainers(folder: RunFolder, ctr: string, namespace: string, pod: string): Promise<void> {
  const labels = { "io.cri-containerd.kind": "container", "io.kubernetes.pod.namespace": namespace };
  const filter = Object.entries({ ...labels, "io.kubernetes.pod.name": pod }).map(([k, v]) => `labels."${k}"==${v}`);
  const listed = await inKubernetes(folder, ctr, "containers", "list", "--quiet", filter.join(","));
  const ids = listed.split("\n").filter((id) => id !== "");
  await Promise.all(ids.map((id) => inKubernetes(folder, ctr, "tasks", "kill", "--signal", "SIGKILL", id)));
}

/** Runs ctr on the containers of Kubernetes and returns what it prints. */
async function inKubernetes(folder: RunFolder, ctr: string, ...args: readonly string[]): Promise<string> {
  const { containerdSocket } = placesOf(folder.id);
  const { stdout } = await run(ctr, ["--address", containerdSocket, "--namespace", KUBERNETES_NAMESPACE, ...args]);
  return stdout;
}
