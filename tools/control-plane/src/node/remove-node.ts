import { spawnSync } from "node:child_process";
import { lstatSync, readdirSync, readlinkSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { killProcesses } from "../process-end.ts";
import { identify, isAlive, type ProcessIdentity } from "../process-identity.ts";
import type { RunFolder } from "../run-folder.ts";
import { findMarked } from "../run-mark.ts";
import { ControlPlaneError } from "../errors.ts";
import { cgroupProcesses, removeCgroup } from "./cgroups.ts";
import { restoreKernelSettings } from "./kernel-settings.ts";
import { unmountBelow } from "./mounts.ts";
import { type NodePlaces, placesOf, RUNTIME_FOLDERS } from "./places.ts";

/** Maximum milliseconds for the kernel to end killed processes. */
const KILL_DEADLINE_MS = 20_000;

/** Folders to which kubelet and the pods' network plugins write regardless of their settings. */
export const CONTAINER_LOGS = "/var/log/containers";
export const NETWORK_RESULTS = "/var/lib/cni/results";

/**
 * Ends all processes of a run and removes what its real node has on the machine: containers, mounts, network, cgroups,
 * files, changed kernel settings. Pods are killed at once.
 *
 * It needs only the run's id, works after any failed start, and is synchronous, so that a program that ends by a signal
 * can call it. A second call does nothing. Delete the run's folder only after this. Returns the pids that it ended.
 */
export function removeNode(folder: RunFolder): readonly number[] {
  const places = placesOf(folder.id);
  const ended = killAll(() => [
    ...findMarked(folder.id),
    ...cgroupProcesses(places.cgroup).flatMap((pid) => identify(pid) ?? []),
  ]);
  // Before the namespace is removed: a node that starts now reads either the restored settings or the saved ones.
  restoreKernelSettings(places);
  unmountBelow([folder.path, places.runtime]);
  spawnSync("ip", ["link", "delete", places.hostLink], { stdio: "ignore" });
  removeCgroup(places.cgroup);
  removeFiles(folder, places);
  return ended;
}

/** Repeats until there is none: a process that is about to be killed may start another. */
function killAll(find: () => readonly ProcessIdentity[]): readonly number[] {
  const seen = new Set<number>();
  const deadline = performance.now() + KILL_DEADLINE_MS;
  for (;;) {
    const alive = find().filter(isAlive);
    if (alive.length === 0) return [...seen];
    if (performance.now() > deadline) {
      const pids = alive.map(({ pid }) => pid).join(", ");
      throw new ControlPlaneError("EK_CLUSTER_REAL_NODE", `processes do not end after SIGKILL: ${pids}`);
    }
    for (const { pid } of alive) seen.add(pid);
    killProcesses(alive);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  }
}

function removeFiles(folder: RunFolder, { runtime, podNetwork }: NodePlaces): void {
  for (const link of entriesOf(CONTAINER_LOGS)) {
    if (lstatSync(link).isSymbolicLink() && readlinkSync(link).startsWith(`${folder.path}/`)) rmSync(link);
  }
  for (const result of entriesOf(NETWORK_RESULTS)) {
    if (result.startsWith(join(NETWORK_RESULTS, `${podNetwork}-`))) rmSync(result);
  }
  rmSync(runtime, { recursive: true, force: true });
  for (const shared of [CONTAINER_LOGS, NETWORK_RESULTS, "/var/lib/cni", RUNTIME_FOLDERS]) removeIfEmpty(shared);
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Another program uses it, or it does not exist.
  }
}
