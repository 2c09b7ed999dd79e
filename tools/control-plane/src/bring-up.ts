import { mkdirSync, writeFileSync } from "node:fs";
import { Cluster, endComponents } from "./cluster.ts";
import type { ClusterOptions } from "./cluster-options.ts";
import type { Component } from "./component.ts";
import type { ClusterPlan } from "./component-flags.ts";
import { createComponents } from "./component-specs.ts";
import { type Credentials, issueCredentials } from "./credentials.ts";
import { endWithThisProcess } from "./exit-guard.ts";
import { chooseFreePorts } from "./ports.ts";
import { thisHost, thisProcess } from "./process-identity.ts";
import { RunFolder } from "./run-folder.ts";
import type { ComponentName } from "./run-record.ts";
import { seedCluster } from "./seed.ts";
import type { Toolset } from "./toolset.ts";

const DEFAULT_NODES = 3;

/** Who did what to which object, without its content. */
const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
`;

export type BringUpOptions = ClusterOptions & Required<Pick<ClusterOptions, "name" | "keep" | "progress">>;

/** One try of a start, in a run folder of its own. If it fails, nothing of it runs on. */
export async function bringUp(options: BringUpOptions, toolset: Toolset, runs: string): Promise<Cluster> {
  const { name, keep, deadlineMs = 60_000, nodes = DEFAULT_NODES, progress } = options;
  const { count, ...shape } = typeof nodes === "number" ? { count: nodes } : nodes;
  const ports = await choosePorts(options.apiserverPort);
  const server = `https://127.0.0.1:${ports.apiserver}`;
  const started = performance.now();
  const folder = RunFolder.create(runs, {
    name,
    host: thisHost(),
    owner: thisProcess(),
    startedAt: new Date().toISOString(),
    endedAt: null,
    startupMs: null,
    server,
    nodes: count,
    bin: toolset.bin,
    processes: [],
  });
  let components: ReadonlyMap<ComponentName, Component> = new Map();
  const disarm = endWithThisProcess(() => [...components.values()].flatMap(({ identity }) => identity ?? []));
  try {
    const advertiseAddress = options.advertiseAddress ?? "192.0.2.1";
    const credentials = await issueCredentials({ folder, cluster: name, server, advertiseAddress });
    const plan = planCluster({ ...options, advertiseAddress }, ports, credentials, folder, toolset);
    components = createComponents(plan, folder, toolset, credentials.admin);

    const times: string[] = [];
    const start = async (component: ComponentName): Promise<void> => {
      await components.get(component)?.start(deadlineMs);
      times.push(`${component} ${seconds(started)}`);
    };
    await start("etcd");
    await start("kube-apiserver");
    await Promise.all([start("kube-controller-manager"), start("kube-scheduler"), start("kwok")]);
    const access = { server, caFile: credentials.authority.files.certificate, client: credentials.admin };
    await seedCluster({ ...access, count, shape, deadlineMs });
    progress(
      `cluster ${name} is ready after ${seconds(started)} s (${times.join(", ")}, ${count} nodes ${seconds(started)})`,
    );

    const startupMs = Math.round(performance.now() - started);
    folder.update({ startupMs, ...(keep ? { owner: null } : {}) });
    if (keep) disarm();
    const auditLog = plan.audit?.log;
    return new Cluster({
      ...{ name, server, folder, toolset, authority: credentials.authority, admin: credentials.admin },
      ...{ auditLog, components, deadlineMs, startupMs, disarm },
    });
  } catch (error) {
    await endComponents(components.values());
    disarm();
    folder.close();
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
  options: BringUpOptions & Required<Pick<ClusterOptions, "advertiseAddress">>,
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
    advertiseAddress: options.advertiseAddress,
    podCidr: options.podCidr ?? "10.200.0.0/16",
    featureGates: options.featureGates ?? {},
    apiserverFlags: options.apiserverFlags ?? [],
    schedulerFlags: options.schedulerFlags ?? [],
    audit,
  };
}
