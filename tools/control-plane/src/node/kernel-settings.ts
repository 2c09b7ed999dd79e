import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type FoundRun, RunFolder } from "../run-folder.ts";

/** Settings of the whole machine that a kubelet changes when it starts, with their values. */
export type KernelSettings = Readonly<Record<string, string>>;

const CHANGED_BY_KUBELET = [
  "kernel/panic",
  "kernel/panic_on_oops",
  "kernel/keys/root_maxbytes",
  "kernel/keys/root_maxkeys",
  "vm/overcommit_memory",
  "vm/panic_on_oom",
];

const fileOf = (name: string): string => join("/proc/sys", name);

export function readKernelSettings(): KernelSettings {
  return Object.fromEntries(CHANGED_BY_KUBELET.map((name) => [name, readFileSync(fileOf(name), "utf8").trim()]));
}

/** The settings from before the first node on this machine: those that run already have changed them. */
export function settingsBeforeNodes(runs: string): KernelSettings {
  return runsWithNode(runs)[0]?.record.realNode?.kernelSettings ?? readKernelSettings();
}

/** Sets back what the kubelet of a run changed, unless another node on this machine runs with it. */
export function restoreKernelSettings(folder: RunFolder): void {
  const before = folder.read().realNode?.kernelSettings ?? {};
  if (runsWithNode(dirname(folder.path)).some((run) => run.folder.id !== folder.id)) return;
  const now = readKernelSettings();
  for (const [name, value] of Object.entries(before)) {
    // A record that somebody changed may not name any other file.
    if (name in now && now[name] !== value) writeFileSync(fileOf(name), value);
  }
}

function runsWithNode(runs: string): FoundRun[] {
  return RunFolder.list(runs).filter(({ state, record }) => state !== "ended" && record.realNode !== null);
}
