import { describe, expect, test } from "@jest/globals";
import {
  apiserverFlags,
  type ClusterPlan,
  controllerManagerFlags,
  etcdFlags,
  kwokFlags,
  schedulerFlags,
} from "./component-flags.ts";

const files = (name: string): { certificate: string; key: string } => ({
  certificate: `/${name}.crt`,
  key: `/${name}.key`,
});

const plan: ClusterPlan = {
  ports: { etcdClient: 1, etcdPeer: 2, apiserver: 3, controllerManager: 4, scheduler: 5, kwok: 6 },
  etcdData: "/etcd",
  caFiles: files("ca"),
  serving: files("serving"),
  frontProxy: files("front-proxy"),
  frontProxyCaFile: "/front-proxy-ca.crt",
  serviceAccountKey: "/sa.key",
  serviceAccountPublicKey: "/sa.pub",
  kubeconfigs: { controllerManager: "/cm.yaml", scheduler: "/scheduler.yaml", kwok: "/kwok.yaml" },
  stages: "/stages.yaml",
  apiserverAddress: "127.0.0.1",
  kubeletClient: undefined,
  advertiseAddress: "192.0.2.1",
  podCidr: "10.200.0.0/16",
  featureGates: {},
  apiserverFlags: [],
  schedulerFlags: [],
  audit: undefined,
};

const all = { etcdFlags, apiserverFlags, controllerManagerFlags, schedulerFlags, kwokFlags };

describe.each(Object.entries(all))("%s", (_, flagsOf) => {
  test("listens and connects on loopback alone", () => {
    for (const flag of flagsOf(plan)) {
      expect(flag).not.toMatch(/0\.0\.0\.0[:/]|localhost|\[::\]/);
    }
  });

  test("names every flag once", () => {
    const names = flagsOf(plan).map((flag) => flag.split("=")[0]);
    expect(names).toEqual([...new Set(names)]);
  });
});

test("rights come from RBAC, and admission is what Kubernetes has by default", () => {
  const flags = apiserverFlags(plan);
  expect(flags).toContain("--authorization-mode=Node,RBAC");
  expect(flags.filter((flag) => flag.includes("admission-plugins"))).toEqual([]);
});

test("a flag of the caller comes after the tool's own, so that it wins", () => {
  const flags = apiserverFlags({ ...plan, apiserverFlags: ["--authorization-mode=AlwaysAllow"] });
  expect(flags.at(-1)).toBe("--authorization-mode=AlwaysAllow");
  expect(schedulerFlags({ ...plan, schedulerFlags: ["--v=10"] }).at(-1)).toBe("--v=10");
});

test("feature gates reach the three programs that have them", () => {
  const gated = { ...plan, featureGates: { Alpha: true, Beta: false } };
  const flag = "--feature-gates=Alpha=true,Beta=false";
  expect(apiserverFlags(gated)).toContain(flag);
  expect(controllerManagerFlags(gated)).toContain(flag);
  expect(schedulerFlags(gated)).toContain(flag);
  expect([...etcdFlags(gated), ...kwokFlags(gated)]).not.toContain(flag);
});

test("an audit log is written only when it is asked for", () => {
  const auditFlags = (audit: ClusterPlan["audit"]): string[] =>
    apiserverFlags({ ...plan, audit }).filter((flag) => flag.startsWith("--audit"));
  expect(auditFlags(undefined)).toEqual([]);
  expect(auditFlags({ policy: "/policy", log: "/log" })).toEqual([
    "--audit-policy-file=/policy",
    "--audit-log-path=/log",
  ]);
});

test("a real kubelet may change its own node's objects alone, and is reached by its address", () => {
  const flags = apiserverFlags({ ...plan, apiserverAddress: "10.211.0.1", kubeletClient: files("kubelet-client") });
  expect(flags).toEqual(
    expect.arrayContaining([
      "--bind-address=10.211.0.1",
      "--enable-admission-plugins=NodeRestriction",
      "--kubelet-client-certificate=/kubelet-client.crt",
      "--kubelet-certificate-authority=/ca.crt",
      "--kubelet-preferred-address-types=InternalIP",
    ]),
  );
});

test("each program has its own identity", () => {
  expect(controllerManagerFlags(plan)).toContain("--kubeconfig=/cm.yaml");
  expect(schedulerFlags(plan)).toContain("--kubeconfig=/scheduler.yaml");
  expect(kwokFlags(plan)).toContain("--kubeconfig=/kwok.yaml");
});
