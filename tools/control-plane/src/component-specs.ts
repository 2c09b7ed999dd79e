import type { CertificateFiles } from "./certificates.ts";
import { Component } from "./component.ts";
import {
  apiserverFlags,
  type ClusterPlan,
  controllerManagerFlags,
  etcdFlags,
  kwokFlags,
  schedulerFlags,
} from "./component-flags.ts";
import type { Binary } from "./pins.ts";
import { healthy, type Readiness } from "./readiness.ts";
import type { RunFolder } from "./run-folder.ts";
import { runMark } from "./run-mark.ts";
import type { ComponentName } from "./run-record.ts";
import type { Toolset } from "./toolset.ts";

/** The components of a control plane, with KWOK unless there is a real node, not started. */
export function createComponents(
  plan: ClusterPlan,
  folder: RunFolder,
  toolset: Toolset,
  admin: CertificateFiles,
): Map<ComponentName, Component> {
  const { ports, caFiles } = plan;
  const caFile = caFiles.certificate;
  const server = `https://${plan.apiserverAddress}:${ports.apiserver}`;
  const parts: [name: ComponentName & Binary, args: string[], whyNotReady: Readiness][] = [
    ["etcd", etcdFlags(plan), healthy({ url: `http://127.0.0.1:${ports.etcdClient}/health` })],
    ["kube-apiserver", apiserverFlags(plan), healthy({ url: `${server}/readyz`, caFile, client: admin })],
    [
      "kube-controller-manager",
      controllerManagerFlags(plan),
      healthy({ url: `https://127.0.0.1:${ports.controllerManager}/healthz`, caFile }),
    ],
    ["kube-scheduler", schedulerFlags(plan), healthy({ url: `https://127.0.0.1:${ports.scheduler}/healthz`, caFile })],
  ];
  if (plan.kubeletClient === undefined) {
    parts.push(["kwok", kwokFlags(plan), healthy({ url: `http://127.0.0.1:${ports.kwok}/healthz` })]);
  }
  // The user's configuration, such as ~/.kwok or a proxy, must not affect a component.
  const environment = { PATH: process.env["PATH"], HOME: folder.path, ...runMark(folder.id) };
  return new Map(
    parts.map(([name, args, whyNotReady]) => [
      name,
      new Component({
        name,
        args,
        whyNotReady,
        environment,
        binary: toolset.path(name),
        cwd: folder.path,
        logFile: folder.file("logs", `${name}.log`),
        record: (process) => folder.recordProcess(process),
      }),
    ]),
  );
}
