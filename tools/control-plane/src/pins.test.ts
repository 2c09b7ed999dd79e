import { describe, expect, test } from "@jest/globals";
import {
  BINARIES,
  buildFlags,
  NODE_BINARIES,
  type NodePins,
  nodeVersionKey,
  pinnedVersion,
  type Pins,
  readNodePins,
  readPins,
  SOURCES,
  versionKey,
} from "./pins.ts";

const pins: Pins = {
  etcd: { goMod: "require go.etcd.io/etcd/server/v3 v3.7.3", goSum: "etcd h1:a" },
  kubernetes: { goMod: "require (\n\tk8s.io/kubernetes v1.36.3 // indirect\n)", goSum: "kubernetes h1:a" },
  kwok: { goMod: "require sigs.k8s.io/kwok v0.8.0", goSum: "kwok h1:a" },
  helm: { goMod: "require helm.sh/helm/v4 v4.3.1", goSum: "helm h1:a" },
};

describe("the version key", () => {
  const key = versionKey(pins, "linux-x64");

  test("is the same for the same pins", () => {
    expect(versionKey(structuredClone(pins), "linux-x64")).toBe(key);
  });

  test("begins with the version of Kubernetes and is fit for a folder's name", () => {
    expect(key).toMatch(/^v1\.36\.3-[0-9a-f]{12}$/);
  });

  test.each(["etcd", "kubernetes", "kwok", "helm"] as const)("changes with go.mod or go.sum of %s", (module) => {
    const { goMod, goSum } = pins[module];
    expect(versionKey({ ...pins, [module]: { goMod: `${goMod}\n// x`, goSum } }, "linux-x64")).not.toBe(key);
    expect(versionKey({ ...pins, [module]: { goMod, goSum: `${goSum}b` } }, "linux-x64")).not.toBe(key);
  });

  test("changes with the platform", () => {
    expect(versionKey(pins, "linux-arm64")).not.toBe(key);
  });
});

describe("the version key of a real node's programs", () => {
  const nodePins: NodePins = {
    containerd: { goMod: "require github.com/containerd/containerd/v2 v2.4.2", goSum: "containerd h1:a" },
    node: { goMod: "require k8s.io/kubernetes v1.36.3", goSum: "kubernetes h1:a" },
    coredns: { goMod: "require github.com/coredns/coredns v1.15.0", goSum: "coredns h1:a" },
    pause: { goMod: "", goSum: "package main" },
  };
  const key = nodeVersionKey(nodePins, "linux-x64");

  test("is another than that of the control plane", () => {
    expect(key).toMatch(/^node-v1\.36\.3-[0-9a-f]{12}$/);
  });

  test.each(["containerd", "node", "coredns", "pause"] as const)("changes with the checksums of %s", (module) => {
    const changed = { ...nodePins, [module]: { ...nodePins[module], goSum: "b" } };
    expect(nodeVersionKey(changed, "linux-x64")).not.toBe(key);
  });
});

test("kubelet and kube-proxy are of the version of the control plane", () => {
  const version = pinnedVersion(readPins().kubernetes.goMod, "k8s.io/kubernetes");
  expect(pinnedVersion(readNodePins().node.goMod, "k8s.io/kubernetes")).toBe(version);
});

describe("a pinned version", () => {
  test("is found in a block and on a line of its own", () => {
    expect(pinnedVersion(pins.kubernetes.goMod, "k8s.io/kubernetes")).toBe("v1.36.3");
    expect(pinnedVersion(pins.kwok.goMod, "sigs.k8s.io/kwok")).toBe("v0.8.0");
  });

  test("is not taken from a module whose path only begins alike", () => {
    expect(() => pinnedVersion(pins.etcd.goMod, "go.etcd.io/etcd/server")).toThrow(
      "no version of go.etcd.io/etcd/server",
    );
  });
});

test("only Kubernetes' own programs are stamped with its version", () => {
  expect(buildFlags("kubectl", pins.kubernetes.goMod).join(" ")).toContain("version.gitVersion=v1.36.3");
  expect(buildFlags("kubectl", pins.kubernetes.goMod).join(" ")).toContain("version.gitMinor=36");
  expect(buildFlags("etcd", pins.etcd.goMod)).toEqual(["-trimpath", "-buildvcs=false", "-ldflags=-s -w"]);
});

/** pause is a program of this workspace. */
const FROM_ELSEWHERE = [...BINARIES, ...NODE_BINARIES].filter((binary) => binary !== "pause");

test.each(FROM_ELSEWHERE)("%s is a tool of the module that it is built from", (binary) => {
  const { module, package: path } = SOURCES[binary];
  const tools = [...{ ...readPins(), ...readNodePins() }[module].goMod.matchAll(/^(?:tool |\t)(\S+)$/gm)].map(
    ([, tool]) => tool,
  );
  expect(tools).toContain(path);
});
