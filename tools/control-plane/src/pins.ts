import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The programs of a cluster, in the order in which they are built. */
export const CLUSTER_BINARIES = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubectl",
  "kwok",
] as const;

/** Everything that can be built; what a cluster does not need is built when somebody asks for it. */
export const BINARIES = [...CLUSTER_BINARIES, "helm"] as const;

export type Binary = (typeof BINARIES)[number];

/** The Go modules that pin the programs: one folder each beside `src`. */
export const MODULES = ["etcd", "kubernetes", "kwok", "helm"] as const;

export type Module = (typeof MODULES)[number];

export interface BinarySource {
  readonly module: Module;
  readonly package: string;
}

export const SOURCES: Readonly<Record<Binary, BinarySource>> = {
  etcd: { module: "etcd", package: "go.etcd.io/etcd/server/v3" },
  "kube-apiserver": { module: "kubernetes", package: "k8s.io/kubernetes/cmd/kube-apiserver" },
  "kube-controller-manager": { module: "kubernetes", package: "k8s.io/kubernetes/cmd/kube-controller-manager" },
  "kube-scheduler": { module: "kubernetes", package: "k8s.io/kubernetes/cmd/kube-scheduler" },
  kubectl: { module: "kubernetes", package: "k8s.io/kubernetes/cmd/kubectl" },
  kwok: { module: "kwok", package: "sigs.k8s.io/kwok/cmd/kwok" },
  helm: { module: "helm", package: "helm.sh/helm/v4/cmd/helm" },
};

export interface PinFiles {
  readonly goMod: string;
  readonly goSum: string;
}

/** What go.mod and go.sum of each module say. */
export type Pins = Readonly<Record<Module, PinFiles>>;

export function goFolder(module: Module): string {
  return join(import.meta.dirname, "..", "go", module);
}

export function readPins(): Pins {
  const read = (module: Module): PinFiles => ({
    goMod: readFileSync(join(goFolder(module), "go.mod"), "utf8"),
    goSum: readFileSync(join(goFolder(module), "go.sum"), "utf8"),
  });
  return { etcd: read("etcd"), kubernetes: read("kubernetes"), kwok: read("kwok"), helm: read("helm") };
}

/** The version of `path` that a go.mod requires, such as v1.36.3. */
export function pinnedVersion(goMod: string, path: string): string {
  for (const line of goMod.split("\n")) {
    const [name, version] = line
      .trim()
      .replace(/^require\s+/, "")
      .split(/\s+/);
    if (name === path && version?.startsWith("v") === true) return version;
  }
  throw new Error(`go.mod requires no version of ${path}`);
}

export function kubernetesVersion(pins: Pins): string {
  return pinnedVersion(pins.kubernetes.goMod, "k8s.io/kubernetes");
}

/** Arguments of `go build` before the output and the package. */
export function buildFlags(binary: Binary, pins: Pins): string[] {
  const linker = ["-s", "-w"];
  if (SOURCES[binary].module === "kubernetes") {
    const version = kubernetesVersion(pins);
    const [major = "", minor = ""] = version.slice(1).split(".");
    const stamp = { gitVersion: version, gitMajor: major, gitMinor: minor };
    for (const [name, value] of Object.entries(stamp)) {
      linker.push("-X", `k8s.io/component-base/version.${name}=${value}`);
    }
  }
  return ["-trimpath", "-buildvcs=false", `-ldflags=${linker.join(" ")}`];
}

/**
 * Names the folder of one set of binaries. Any change of a pin, of a checksum, of the way they are built or of the machine's
 * kind gives another name, so that a binary in a folder is always the one that its name stands for.
 */
export function versionKey(pins: Pins, platform: string): string {
  const hash = createHash("sha256").update(JSON.stringify([platform, pins]));
  for (const binary of BINARIES) hash.update(JSON.stringify([binary, SOURCES[binary], buildFlags(binary, pins)]));
  return `${kubernetesVersion(pins)}-${hash.digest("hex").slice(0, 12)}`;
}
