import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Cluster, endCluster } from "./cluster.ts";
import type { ClusterOptions } from "./cluster-options.ts";
import type { Component } from "./component.ts";
import type { ClusterPlan } from "./component-flags.ts";
import { createComponents } from "./component-specs.ts";
import { type Credentials, issueCredentials } from "./credentials.ts";
import { endWithThisProcess } from "./exit-guard.ts";
import { type Folders, runsFolder } from "./folders.ts";
import { withLock } from "./lock.ts";
import { createNode, issueKubeletClient, loadImage, prepareNode } from "./node/real-node.ts";
import { removeNode } from "./node/remove-node.ts";
import { chooseFreePorts } from "./ports.ts";
import { killProcesses } from "./process-end.ts";
import { thisHost, thisProcess } from "./process-identity.ts";
import { RunFolder } from "./run-folder.ts";
import type { ComponentName } from "./run-record.ts";
import { seedCluster } from "./seed.ts";
import type { NodeToolset, Toolset } from "./toolset.ts";

const DEFAULT_NODES = 3;

/** Records user, verb and object of each request, without its content. */
const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
`;

/** Groups that start together, in order. A cluster has either KWOK or the programs of a real node. */
const START_ORDER: readonly (readonly ComponentName[])[] = [
  ["etcd", "containerd"],
  ["kube-apiserver"],
  ["kube-controller-manager", "kube-scheduler", "kwok", "kubelet", "kube-proxy"],
];

export type BringUpOptions = ClusterOptions & Required<Pick<ClusterOptions, "name" | "keep" | "progress">>;

/** The programs to start, including those of a real node if there is one. */
export interface Toolsets {
  readonly cluster: Toolset;
  readonly node: NodeToolset | undefined;
}

/** One attempt to start, in its own run folder. If it fails, no process is left. */
export async function bringUp(options: BringUpOptions, toolsets: Toolsets, folders: Folders): Promise<Cluster> {
  const { name, keep, deadlineMs = 60_000, nodes = DEFAULT_NODES, progress } = options;
  const { count, ...shape } = typeof nodes === "number" ? { count: nodes } : nodes;
  const { node } = toolsets;
  const runs = runsFolder(folders);
  const ports = await choosePorts(options.apiserverPort);
  const started = performance.now();
  const folder = RunFolder.create(runs, {
    name,
    host: thisHost(),
    owner: thisProcess(),
    startedAt: new Date().toISOString(),
    endedAt: null,
    startupMs: null,
    server: "",
    nodes: node === undefined ? count : 1,
    bin: toolsets.cluster.bin,
    realNode: node === undefined ? null : { bin: node.bin },
    processes: [],
  });
  let components: ReadonlyMap<ComponentName, Component> = new Map();
  const disarm = endWithThisProcess(() => {
    killProcesses([...components.values()].flatMap(({ identity }) => identity ?? []));
    if (node === undefined) return;
    removeNode(folder);
    folder.close();
  });
  try {
    const network = node && (await withLock(join(folders.state, "network.lock"), () => prepareNode(folder)));
    const apiserverAddress = network?.hostAddress ?? "127.0.0.1";
    const advertiseAddress = network?.hostAddress ?? options.advertiseAddress ?? "192.0.2.1";
    const server = `https://${apiserverAddress}:${ports.apiserver}`;
    folder.update({ server });
    const credentials = await issueCredentials({ folder, cluster: name, server, advertiseAddress });
    const { authority, admin } = credentials;
    const kubeletClient = network && (await issueKubeletClient(authority));
    const addresses = { apiserverAddress, advertiseAddress, kubeletClient };
    const plan = planCluster(options, addresses, ports, credentials, folder, toolsets.cluster);
    components = new Map([
      ...createComponents(plan, folder, toolsets.cluster, admin),
      ...(network ? await createNode({ folder, network, toolset: node, cluster: name, server, authority }) : []),
    ]);

    const times: string[] = [];
    const start = async (component: ComponentName): Promise<void> => {
      await components.get(component)?.start(deadlineMs);
      if (components.has(component)) times.push(`${component} ${seconds(started)}`);
    };
    for (const group of START_ORDER) await Promise.all(group.map(start));
    const ctr = node?.path("ctr") ?? "";
    for (const image of Object.values(node?.images ?? {})) await loadImage(folder, ctr, image);
    const access = { server, caFile: authority.files.certificate, client: admin };
    await seedCluster({ ...access, folder, nodes: node === undefined ? { count, shape } : "real", deadlineMs });
    const { nodes: ready } = folder.read();
    progress(
      `cluster ${name} is ready after ${seconds(started)} s (${times.join(", ")}, ${ready} nodes ${seconds(started)})`,
    );

    const startupMs = Math.round(performance.now() - started);
    folder.update({ startupMs, ...(keep ? { owner: null } : {}) });
    if (keep) disarm();
    const auditLog = plan.audit?.log;
    return new Cluster({ folder, authority, admin, auditLog, components, deadlineMs, startupMs, disarm });
  } catch (error) {
    await endCluster(folder, components.values());
    disarm();
    throw error;
  }
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}

async function choosePorts(apiserverPort: number | undefined): Promise<ClusterPlan["ports"]> {
  const [etcdClient, etcdPeer, controllerManager, scheduler, kwok, apiserver] = (await chooseFreePorts(6)) as [
    ...[number, number, number, number, number, number],
  ];
  return { etcdClient, etcdPeer, controllerManager, scheduler, kwok, apiserver: apiserverPort ?? apiserver };
}

function planCluster(
  options: BringUpOptions,
  addresses: Pick<ClusterPlan, "apiserverAddress" | "advertiseAddress" | "kubeletClient">,
  ports: ClusterPlan["ports"],
  credentials: Credentials,
  folder: RunFolder,
  toolset: Toolset,
): ClusterPlan {
  const audit =
    options.audit === true
      ? { policy: folder.file("audit-policy.yaml"), log: folder.file("logs", "audit.log") }
      : undefined;
  if (audit !== undefined) writeFileSync(audit.policy, AUDIT_POLICY);
  const etcdData = folder.file("etcd");
  mkdirSync(etcdData, { mode: 0o700 });
  return {
    ...credentials,
    ports,
    etcdData,
    caFiles: credentials.authority.files,
    stages: toolset.stages,
    ...addresses,
    podCidr: options.podCidr ?? "10.200.0.0/16",
    featureGates: options.featureGates ?? {},
    apiserverFlags: options.apiserverFlags ?? [],
    schedulerFlags: options.schedulerFlags ?? [],
    audit,
  };
}
