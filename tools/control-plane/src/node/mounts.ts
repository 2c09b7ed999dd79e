import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { ControlPlaneError } from "../errors.ts";

export interface Mount {
  readonly point: string;
  /** Kind of the file system, such as overlay. */
  readonly type: string;
}

/** Parses the lines of /proc/<pid>/mountinfo (see proc_pid_mountinfo(5)), in the order of the mounts. */
export function parseMounts(text: string): Mount[] {
  return text.split("\n").flatMap((line) => {
    const [before = "", after] = line.split(" - ");
    const point = before.split(" ")[4];
    const type = after?.split(" ")[0];
    // Blanks and backslashes in a path are escaped as octal numbers.
    const unescape = (path: string): string =>
      path.replaceAll(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
    return point === undefined || type === undefined ? [] : [{ point: unescape(point), type }];
  });
}

export function mounts(): Mount[] {
  return parseMounts(readFileSync("/proc/self/mountinfo", "utf8"));
}

export function mountPointsBelow(folders: readonly string[]): string[] {
  return mounts()
    .map(({ point }) => point)
    .filter((point) => folders.some((folder) => point === folder || point.startsWith(`${folder}/`)));
}

/**
 * Unmounts everything in these folders. Throws if a mount remains, because deleting the folder would delete the mounted
 * files.
 */
export function unmountBelow(folders: readonly string[]): void {
  const points = mountPointsBelow(folders).reverse();
  if (points.length > 0) spawnSync("umount", ["--lazy", "--no-mtab", "--", ...points], { stdio: "ignore" });
  const left = mountPointsBelow(folders);
  if (left.length > 0) {
    const message = `cannot unmount ${left.join(", ")}; unmount it by hand and stop the cluster again`;
    throw new ControlPlaneError("EK_CLUSTER_REAL_NODE", message);
  }
}
