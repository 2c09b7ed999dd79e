import { mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { isSystemError } from "../errors.ts";
import { mounts } from "./mounts.ts";

/** The root of each cgroup hierarchy: one per controller in version 1, one for all in version 2. */
function hierarchies(): string[] {
  return mounts().flatMap(({ point, type }) => (type === "cgroup" || type === "cgroup2" ? [point] : []));
}

/** Creates a folder of that name in each hierarchy. */
export function createCgroup(name: string): void {
  for (const root of hierarchies()) mkdirSync(join(root, name), { recursive: true });
}

/** The processes in the folders of that name and below, each once. */
export function cgroupProcesses(name: string): number[] {
  const pids = cgroupFolders(name).flatMap((folder) => linesOf(join(folder, "cgroup.procs")).map(Number));
  return [...new Set(pids)].filter((pid) => pid > 1);
}

/** Removes what `createCgroup` created and everything below. No process may be left in it. */
export function removeCgroup(name: string): void {
  // Children come after their parents.
  for (const folder of cgroupFolders(name).reverse()) rmdirSync(folder);
}

export function cgroupFolders(name: string): string[] {
  return hierarchies().flatMap((root) => foldersIn(join(root, name)));
}

/** The folder and all below. A cgroup can be removed at any time. */
function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [folder, ...entries.flatMap(({ name }) => foldersIn(join(folder, name)))];
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  }
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch (error) {
    if (isSystemError(error, "ENOENT") || isSystemError(error, "ENODEV")) return [];
    throw error;
  }
}
