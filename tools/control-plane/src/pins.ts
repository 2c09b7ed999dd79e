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

/** All programs. Those that a cluster does not need are built on request. */
export const BINARIES = [...CLUSTER_BINARIES, "helm"] as const;

export type Binary = (typeof BINARIES)[number];

/** The programs of a real node, in the order in which they are built. */
export const NODE_BINARIES = [
  "containerd",
  "containerd-shim-runc-v2",
  "ctr",
  "kubelet",
  "kube-proxy",
  "coredns",
  "pause",
] as const;

export type NodeBinary = (typeof NODE_BINARIES)[number];

/** The Go modules that pin the programs: one folder each next to `src`. */
export type ControlPlaneModule = "etcd" | "kubernetes" | "kwok" | "helm";
export type NodeModule = "containerd" | "node" | "coredns" | "pause";
export type Module = ControlPlaneModule | NodeModule;

const KUBERNETES = "k8s.io/kubernetes";
const CONTAINERD = "github.com/containerd/containerd/v2";

export interface BinarySource<M extends Module = Module> {
  readonly module: M;
  readonly package: string;
}

export const SOURCES: Readonly<
  Record<Binary, BinarySource<ControlPlaneModule>> & Record<NodeBinary, BinarySource<NodeModule>>
> = {
  etcd: { module: "etcd", package: "go.etcd.io/etcd/server/v3" },
  "kube-apiserver": { module: "kubernetes", package: "k8s.io/kubernetes/cmd/kube-apiserver" },
  "kube-controller-manager": { module: "kubernetes", package: "k8s.io/kubernetes/cmd/kube-controller-manager" },
  "kube-scheduler": { module: "kubernetes", package: "k8s.io/kubernetes/cmd/kube-scheduler" },
  kubectl: { module: "kubernetes", package: "k8s.io/kubernetes/cmd/kubectl" },
  kwok: { module: "kwok", package: "sigs.k8s.io/kwok/cmd/kwok" },
  helm: { module: "helm", package: "helm.sh/helm/v4/cmd/helm" },
  containerd: { module: "containerd", package: `${CONTAINERD}/cmd/containerd` },
  "containerd-shim-runc-v2": { module: "containerd", package: `${CONTAINERD}/cmd/containerd-shim-runc-v2` },
  ctr: { module: "containerd", package: `${CONTAINERD}/cmd/ctr` },
  kubelet: { module: "node", package: "k8s.io/kubernetes/cmd/kubelet" },
  "kube-proxy": { module: "node", package: "k8s.io/kubernetes/cmd/kube-proxy" },
  coredns: { module: "coredns", package: "github.com/coredns/coredns" },
  pause: { module: "pause", package: "evenkeel.io/control-plane/pause" },
};

export interface PinFiles {
  readonly goMod: string;
  readonly goSum: string;
}

/** The contents of go.mod and go.sum of each module: of the control plane, and of a real node. */
export type Pins = Readonly<Record<ControlPlaneModule, PinFiles>>;
export type NodePins = Readonly<Record<NodeModule, PinFiles>>;

export function goFolder(module: Module): string {
  return join(import.meta.dirname, "..", "go", module);
}

export function readPins(): Pins {
  return {
    etcd: readModule("etcd"),
    kubernetes: readModule("kubernetes"),
    kwok: readModule("kwok"),
    helm: readModule("helm"),
  };
}

export function readNodePins(): NodePins {
  // pause is a program of our own without dependencies, so its source is used instead of checksums.
  const pause = { goMod: readGoFile("pause", "go.mod"), goSum: readGoFile("pause", "main.go") };
  return { containerd: readModule("containerd"), node: readModule("node"), coredns: readModule("coredns"), pause };
}

function readModule(module: Module): PinFiles {
  return { goMod: readGoFile(module, "go.mod"), goSum: readGoFile(module, "go.sum") };
}

function readGoFile(module: Module, file: string): string {
  return readFileSync(join(goFolder(module), file), "utf8");
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

/** Arguments of `go build` before the output and the package, given the go.mod of the binary's module. */
export function buildFlags(binary: Binary | NodeBinary, goMod: string): string[] {
  const stamps = Object.entries(stampsOf(SOURCES[binary].module, goMod));
  const linker = ["-s", "-w", ...stamps.flatMap(([name, value]) => ["-X", `${name}=${value}`])];
  return ["-trimpath", "-buildvcs=false", `-ldflags=${linker.join(" ")}`];
}

/** Variables with the version that a program reports. */
function stampsOf(module: Module, goMod: string): Readonly<Record<string, string>> {
  if (module === "containerd") return { [`${CONTAINERD}/version.Version`]: pinnedVersion(goMod, CONTAINERD) };
  if (module !== "kubernetes" && module !== "node") return {};
  const version = pinnedVersion(goMod, KUBERNETES);
  const [major = "", minor = ""] = version.slice(1).split(".");
  const prefix = "k8s.io/component-base/version";
  return { [`${prefix}.gitVersion`]: version, [`${prefix}.gitMajor`]: major, [`${prefix}.gitMinor`]: minor };
}

/**
 * The folder name of one set of binaries. Any change of a pin, a checksum, the build or the platform results in another
 * name, so that a folder always contains the binaries of its name.
 */
export function versionKey(pins: Pins, platform: string): string {
  return `${pinnedVersion(pins.kubernetes.goMod, KUBERNETES)}-${hashOf(BINARIES, pins, platform)}`;
}

/**
 * The same for the binaries of a real node. They have their own folder, so that a change of one set does not rebuild
 * the other.
 */
export function nodeVersionKey(pins: NodePins, platform: string): string {
  return `node-${pinnedVersion(pins.node.goMod, KUBERNETES)}-${hashOf(NODE_BINARIES, pins, platform)}`;
}

function hashOf(
  binaries: readonly (Binary | NodeBinary)[],
  pins: Readonly<Partial<Record<Module, PinFiles>>>,
  platform: string,
): string {
  const hash = createHash("sha256").update(JSON.stringify([platform, pins]));
  for (const binary of binaries) {
    const source: BinarySource = SOURCES[binary];
    hash.update(JSON.stringify([binary, source, buildFlags(binary, pins[source.module]?.goMod ?? "")]));
  }
  return hash.digest("hex").slice(0, 12);
}
