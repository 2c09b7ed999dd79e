import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, type KubeClient, type Lease, leases as leaseType } from "@evenkeel/kube";
import { createLogger } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import { type ApiServer, FaultPlan, startApiServer } from "@evenkeel/sim";
import { OriginalLease } from "./original-lease.ts";

const NAME = "e7eaa5de.ch1aki.github.io";
const START = Date.parse("2026-01-01T00:00:00Z");
const USER = { name: "rebalancer", token: "rebalancer-token" };
const LIVE = `pod-1 (Lease default/${NAME})`;

/** As the chart grants it: one name, in all namespaces. */
const RIGHTS = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: see-original }
rules: [{ apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [${NAME}], verbs: [list] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: see-original }
subjects: [{ kind: User, name: rebalancer, apiGroup: rbac.authorization.k8s.io }]
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: see-original }
`;

describe("the Lease of the original", () => {
  let clock: FakeClock;
  let folder: string;
  let server: ApiServer;
  let kube: KubeClient;
  let admin: KubeClient;
  let faults: FaultPlan;
  let lists: number;
  let lines: { readonly level: string; readonly msg: string }[];
  let original: OriginalLease;

  const connect = (token: string): KubeClient => {
    const kubeconfig = join(folder, token);
    const cluster = { name: "c", cluster: { server: server.url } };
    const context = { name: "x", context: { cluster: "c", user: "u" } };
    const config = { clusters: [cluster], users: [{ name: "u", user: { token } }], contexts: [context] };
    writeFileSync(kubeconfig, JSON.stringify({ ...config, "current-context": "x" }));
    const limits = { kubeDeadline: 10_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 1 };
    return connectKube({ settings: { kubeconfig, kubeContext: undefined, ...limits }, env: {}, userAgent: "test" });
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "evenkeel-lease-"));
    clock = new FakeClock(START);
    faults = new FaultPlan();
    lists = 0;
    lines = [];
    server = await startApiServer({
      users: [USER, { name: "admin", groups: ["system:masters"], token: "admin-token" }],
      faults: (request, response) => {
        if (request.headers.authorization?.includes(USER.token)) lists += 1;
        return faults.faults(request, response);
      },
    });
    server.load(RIGHTS);
    kube = connect(USER.token);
    admin = connect("admin-token");
    const destination = { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) };
    const log = createLogger({ service: "test", level: "debug", secrets: [], destination });
    original = new OriginalLease({ leases: kube.resource(leaseType), name: NAME, clock, log });
  });
  afterEach(async () => {
    await Promise.all([kube.stop(), admin.stop()]);
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  const stamp = (milliseconds: number) => new Date(milliseconds).toISOString().replace("Z", "000Z");

  const hold = (renewedAt: number, spec: Lease["spec"] = {}, name = NAME): Promise<Lease> =>
    admin.resource(leaseType).create({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace: "default", name },
      spec: { holderIdentity: "pod-1", leaseDurationSeconds: 15, renewTime: stamp(renewedAt), ...spec },
    });

  const renew = async (renewedAt: number): Promise<void> => {
    const body = { spec: { renewTime: stamp(renewedAt) } };
    await admin.resource(leaseType).patch({ namespace: "default", name: NAME }, { type: "merge", body });
  };

  /** What is told at each of these seconds after the start. */
  const toldAt = async (...seconds: readonly number[]): Promise<(string | null)[]> => {
    const told = [];
    for (const second of seconds) {
      await clock.advance(second * 1000 - clock.monotonic());
      told.push(await original.live());
    }
    return told;
  };

  test("is live for nobody where there is none, also if others have theirs", async () => {
    await hold(START, {}, "another-controller");
    expect(await original.live()).toBeNull();
    expect(lines).toEqual([]);
  });

  test("is live from its first sight until it was the same for as long as it lasts", async () => {
    await hold(START);
    expect(await toldAt(0, 10, 20)).toEqual([LIVE, LIVE, null]);
  });

  test("is live while it is renewed, and again when it is renewed later", async () => {
    await hold(START);
    for (let second = 0; second <= 120; second += 10) {
      expect(await toldAt(second)).toEqual([LIVE]);
      await renew(START + second * 1000);
    }
    expect(await toldAt(130, 140, 150)).toEqual([LIVE, LIVE, null]);
    await renew(START + 150_000);
    expect(await toldAt(160)).toEqual([LIVE]);
  });

  test("is live while it is renewed by a host whose clock is an hour behind", async () => {
    await hold(START - 3_600_000);
    for (let second = 0; second <= 60; second += 10) {
      expect(await toldAt(second)).toEqual([LIVE]);
      await renew(START - 3_600_000 + second * 1000);
    }
  });

  test("is not live for ever because its last stamp is an hour ahead", async () => {
    await hold(START + 3_600_000);
    expect(await toldAt(0, 20)).toEqual([LIVE, null]);
  });

  test("is live while it is written although its stamp stands still", async () => {
    await hold(START);
    for (let second = 0; second <= 60; second += 10) {
      expect(await toldAt(second)).toEqual([LIVE]);
      const body = { spec: { leaseTransitions: second } };
      await admin.resource(leaseType).patch({ namespace: "default", name: NAME }, { type: "merge", body });
    }
  });

  test("is judged by time that passed, not by a wall clock that jumps", async () => {
    await hold(START);
    expect(await toldAt(0)).toEqual([LIVE]);
    clock.jump(3_600_000);
    expect(await toldAt(10)).toEqual([LIVE]);
    clock.jump(-7_200_000);
    expect(await toldAt(20)).toEqual([null]);
  });

  test("is a leftover when its stamp is a day old, unless it is then renewed", async () => {
    await hold(START - 86_400_000 - 16_000);
    expect(await toldAt(0)).toEqual([null]);
    await renew(START - 86_400_000);
    expect(await toldAt(10)).toEqual([LIVE]);
  });

  test("is free once it was given back", async () => {
    await hold(START, { holderIdentity: "" });
    expect(await original.live()).toBeNull();
  });

  test("lasts as long as it says, and fifteen seconds if it says nothing", async () => {
    await hold(START, { leaseDurationSeconds: 60 });
    expect(await toldAt(0, 50, 60)).toEqual([LIVE, LIVE, null]);
  });

  test("is found in whatever namespace it is", async () => {
    server.load("{apiVersion: v1, kind: Namespace, metadata: {name: rebalancer-system}}");
    await admin.resource(leaseType).create({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace: "rebalancer-system", name: NAME },
      spec: { holderIdentity: "pod-2", leaseDurationSeconds: 15, renewTime: stamp(START) },
    });
    expect(await original.live()).toBe(`pod-2 (Lease rebalancer-system/${NAME})`);
  });

  test("is looked at every ten seconds at most, whoever asks", async () => {
    await Promise.all(Array.from({ length: 100 }, () => original.live()));
    await clock.advance(9999);
    await original.live();
    expect(lists).toBe(1);
    await clock.advance(1);
    await original.live();
    expect(lists).toBe(2);
  });

  test("counts as not live where Leases may not be listed, with one warning", async () => {
    await hold(START);
    const path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/see-original";
    await admin.request({ method: "DELETE", path });
    expect(await toldAt(0, 10, 20)).toEqual([null, null, null]);
    expect(lines).toMatchObject([{ level: "warn", msg: expect.stringContaining("cannot tell") }]);
  });

  test("is as it was while the API server does not answer", async () => {
    await hold(START, { leaseDurationSeconds: 600 });
    expect(await toldAt(0)).toEqual([LIVE]);
    const takeBack = faults.add({ fault: { kind: "status", code: 500 } });
    expect(await toldAt(10)).toEqual([LIVE]);
    takeBack();
    await admin.resource(leaseType).delete({ namespace: "default", name: NAME });
    expect(await toldAt(20)).toEqual([null]);
  });

  test("is no guess when it could never be looked at", async () => {
    const takeBack = faults.add({ fault: { kind: "status", code: 500 } });
    await expect(original.live()).rejects.toMatchObject({ recovery: "retryable" });
    takeBack();
    expect(await original.live()).toBeNull();
  });
});
