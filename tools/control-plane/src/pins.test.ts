import { describe, expect, test } from "@jest/globals";
import { BINARIES, buildFlags, pinnedVersion, type Pins, readPins, SOURCES, versionKey } from "./pins.ts";

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
  expect(buildFlags("kubectl", pins).join(" ")).toContain("version.gitVersion=v1.36.3");
  expect(buildFlags("kubectl", pins).join(" ")).toContain("version.gitMinor=36");
  expect(buildFlags("etcd", pins)).toEqual(["-trimpath", "-buildvcs=false", "-ldflags=-s -w"]);
});

test.each(BINARIES)("%s is a tool of the module that it is built from", (binary) => {
  const { module, package: path } = SOURCES[binary];
  const tools = [...readPins()[module].goMod.matchAll(/^(?:tool |\t)(\S+)$/gm)].map(([, tool]) => tool);
  expect(tools).toContain(path);
});
