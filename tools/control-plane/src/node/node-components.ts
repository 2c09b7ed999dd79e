import { delimiter } from "node:path";
import { Component } from "../component.ts";
import { healthy, listening, type Readiness } from "../readiness.ts";
import type { RunFolder } from "../run-folder.ts";
import { runMark } from "../run-mark.ts";
import type { ComponentName } from "../run-record.ts";
import type { NodeToolset } from "../toolset.ts";
import type { NodeNetwork } from "./network.ts";
import { KUBE_PROXY_HEALTH_PORT, KUBELET_HEALTH_PORT, type NodeFiles } from "./node-files.ts";
import { NODE_NAME, type NodePlaces } from "./places.ts";
import { NODE_PATH } from "./requirements.ts";

export interface NodeComponentsOptions {
  readonly folder: RunFolder;
  readonly places: NodePlaces;
  readonly network: NodeNetwork;
  readonly toolset: NodeToolset;
  readonly files: NodeFiles;
  readonly kubeletKubeconfig: string;
}

/** The programs of a real node, not started. They run in the node's network namespace. */
export function createNodeComponents(options: NodeComponentsOptions): [ComponentName, Component][] {
  const { folder, places, network, toolset, files } = options;
  const nodeUrl = (port: number): string => `http://${network.nodeAddress}:${port}/healthz`;
  const parts: [ComponentName & ("containerd" | "kubelet" | "kube-proxy"), string[], Readiness][] = [
    ["containerd", [`--config=${files.containerd}`], listening(places.containerdSocket)],
    ["kubelet", kubeletFlags(options), healthy({ url: nodeUrl(KUBELET_HEALTH_PORT) })],
    ["kube-proxy", [`--config=${files.kubeProxy}`], healthy({ url: nodeUrl(KUBE_PROXY_HEALTH_PORT) })],
  ];
  // containerd finds its shim on the PATH. Its child processes inherit the mark, by which they are found again.
  const environment = {
    PATH: [toolset.bin, NODE_PATH].join(delimiter),
    HOME: folder.path,
    ...runMark(folder.id),
  };
  return parts.map(([name, args, whyNotReady]) => [
    name,
    new Component({
      ...{ name, whyNotReady, environment, cwd: folder.path, logFile: folder.file("logs", `${name}.log`) },
      binary: "nsenter",
      args: [`--net=${places.netns}`, toolset.path(name), ...args],
      record: (process) => folder.recordProcess(process),
    }),
  ]);
}

function kubeletFlags({ folder, network, files, kubeletKubeconfig }: NodeComponentsOptions): string[] {
  return [
    `--config=${files.kubelet}`,
    `--kubeconfig=${kubeletKubeconfig}`,
    `--hostname-override=${NODE_NAME}`,
    `--node-ip=${network.nodeAddress}`,
    `--root-dir=${folder.file("node", "kubelet")}`,
    `--cert-dir=${folder.file("node", "kubelet-certificates")}`,
  ];
}
