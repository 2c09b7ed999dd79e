import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Folders, runsFolder } from "../folders.ts";
import { createCgroup, removeCgroup } from "./cgroups.ts";

/** Debian packages of the programs that a node needs. */
const PACKAGES: Readonly<Record<string, string>> = {
  ip: "iproute2",
  nft: "nftables",
  nsenter: "util-linux",
  runc: "runc",
  umount: "mount",
  unshare: "util-linux",
};

/** Folders of the pods' network plugins: on Debian, and on other systems. */
const PLUGIN_FOLDERS = ["/usr/lib/cni", "/opt/cni/bin"];

/** The PATH of an unprivileged shell may lack the system programs. */
export const NODE_PATH = [process.env["PATH"] ?? "", "/usr/sbin", "/sbin"].join(delimiter);

export function pluginFolder(): string | undefined {
  return PLUGIN_FOLDERS.find((folder) => existsSync(join(folder, "bridge")) && existsSync(join(folder, "host-local")));
}

/** Why this machine cannot run a real node, and what to do about it, in one sentence; undefined if it can. */
export function whyNoRealNode(folders: Folders): string | undefined {
  if (process.platform !== "linux") return "a real node needs Linux: use a cluster of kind, or KWOK nodes";
  if (process.getuid?.() !== 0) return "a real node needs root: run the command with sudo, or use KWOK nodes";
  const missing = missingPackages();
  if (missing.length > 0) {
    return `a real node needs Debian packages that are missing: apt-get install ${missing.join(" ")}`;
  }
  return whyNoNetwork() ?? whyNoOverlay(folders) ?? whyNoCgroups();
}

function missingPackages(): string[] {
  const missing = Object.entries(PACKAGES).flatMap(([program, name]) => (isOnPath(program) ? [] : [name]));
  if (pluginFolder() === undefined) missing.push("containernetworking-plugins");
  return [...new Set(missing)];
}

function isOnPath(program: string): boolean {
  return NODE_PATH.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function succeeds(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { env: { PATH: NODE_PATH }, stdio: "ignore" }).status === 0;
}

function whyNoNetwork(): string | undefined {
  const inNamespace = (...command: string[]): boolean => succeeds("unshare", "--net", ...command);
  if (!inNamespace("true")) return "a real node needs network namespaces: allow CAP_SYS_ADMIN";
  if (!inNamespace("nft", "add", "table", "ip", "evenkeel")) {
    return "kube-proxy needs nf_tables in the kernel: modprobe nf_tables";
  }
  for (const kind of ["bridge", "veth"]) {
    if (!inNamespace("ip", "link", "add", "check0", "type", kind)) {
      return `pods need network devices of the kind ${kind}: modprobe ${kind}`;
    }
  }
  if (!existsSync("/proc/sys/net/bridge") && !succeeds("modprobe", "br_netfilter")) {
    return "kube-proxy needs br_netfilter in the kernel: modprobe br_netfilter";
  }
  return undefined;
}

function whyNoOverlay(folders: Folders): string | undefined {
  mkdirSync(runsFolder(folders), { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(folders.state, "overlay-"));
  try {
    const [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map((name) => join(folder, name)) as [
      ...[string, string, string, string],
    ];
    for (const path of [lower, upper, work, merged]) mkdirSync(path);
    const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
    // In a mount namespace, so that the mount ends with the command.
    const mounted = succeeds("unshare", "--mount", "mount", "-t", "overlay", "overlay", "-o", options, merged);
    if (mounted) return undefined;
    return `containers need overlay mounts in ${folders.state}: modprobe overlay, or set XDG_STATE_HOME to a folder on a disk`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function whyNoCgroups(): string | undefined {
  const name = `evenkeel-check-${process.pid}`;
  try {
    createCgroup(name);
    removeCgroup(name);
    return undefined;
  } catch {
    return "containers need cgroups that root may change: mount /sys/fs/cgroup for writing";
  }
}
