import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mounts } from "./mounts.ts";
import { type NodePlaces, RUNTIME_FOLDERS } from "./places.ts";

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

/** File in a node's runtime folder: the settings before the first node on this machine. */
const SAVED = "kernel-settings.json";

const fileOf = (name: string): string => join("/proc/sys", name);

export function readKernelSettings(): KernelSettings {
  return Object.fromEntries(CHANGED_BY_KUBELET.map((name) => [name, readFileSync(fileOf(name), "utf8").trim()]));
}

/** Saves the settings before a kubelet changes them. If another node runs, it has already saved them. */
export function saveKernelSettings({ runtime }: NodePlaces): void {
  const [other] = otherNodes(runtime);
  const saved = other === undefined ? undefined : readSaved(other);
  writeFileSync(join(runtime, SAVED), JSON.stringify(saved ?? readKernelSettings()));
}

/** Restores what the kubelet of a node changed, unless another node runs on this machine. */
export function restoreKernelSettings({ runtime }: NodePlaces): void {
  if (otherNodes(runtime).length > 0) return;
  const now = readKernelSettings();
  for (const [name, value] of Object.entries(readSaved(runtime) ?? {})) {
    if (now[name] !== value) writeFileSync(fileOf(name), value);
  }
}

/** Runtime folders of all other nodes of this machine that have a network namespace, also of other users and clones. */
function otherNodes(runtime: string): string[] {
  const held = new Set(mounts().map(({ point }) => point));
  return foldersIn(RUNTIME_FOLDERS).filter((folder) => folder !== runtime && held.has(join(folder, "net")));
}

function foldersIn(parent: string): string[] {
  try {
    return readdirSync(parent).map((name) => join(parent, name));
  } catch {
    return [];
  }
}

function readSaved(runtime: string): KernelSettings | undefined {
  try {
    return JSON.parse(readFileSync(join(runtime, SAVED), "utf8")) as KernelSettings;
  } catch {
    // The start failed before this point.
    return undefined;
  }
}
