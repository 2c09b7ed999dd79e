import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { fixtureCluster } from "@evenkeel/eviction-planner/testing";
import { eventually } from "@evenkeel/runtime/testing";
import {
  type ApiServer,
  controlPlane,
  deployments,
  kubelet,
  replicaSets,
  scheduling,
  simNode,
  startApiServer,
} from "@evenkeel/sim";
import { ADMIN, kubeconfigFor } from "@evenkeel/testkit";
import { evenkeel } from "./evenkeel.ts";
import { EvenkeelProcess } from "./evenkeel-process.ts";

const { objects, metrics } = fixtureCluster();
const list = (items: readonly object[]): string => JSON.stringify({ apiVersion: "v1", kind: "List", items });

/** A process and its thread load all sources, which takes long on a busy machine. */
const PROCESS_TIMEOUT = 90_000;

let folder: string;
let cluster: string;
let usage: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "cli-plan-"));
  cluster = file("cluster.json.gz", gzipSync(list(objects)));
  usage = file("usage.json", list(metrics));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, contents: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, contents);
  return path;
}

interface PlanAnswer {
  readonly at: string;
  readonly notes: readonly string[];
  readonly plan: {
    readonly outcome: string;
    readonly moves: readonly { readonly pod: { readonly name: string }; readonly from: string }[];
    readonly curve: { readonly predicted: readonly number[]; readonly bound: readonly number[] };
    readonly stays: readonly { readonly code: string }[];
  };
}

async function planned(args: readonly string[], env: Readonly<Record<string, string>> = {}, input = "") {
  const { code, stdout, stderr } = await evenkeel(["plan", "-o", "json", ...args], { env, input });
  return { code, stderr, answer: (stdout === "" ? null : JSON.parse(stdout)) as PlanAnswer };
}

const policy = (name: string, spec: string): string =>
  file(name, `apiVersion: rebalancer.dev/v1\nkind: RebalancePolicy\nmetadata: { name: mine }\nspec: ${spec}\n`);

describe("plan from files", () => {
  test(
    "as a process: shows the curve, the moves and what holds the rest, and exits 1",
    async () => {
      await using running = new EvenkeelProcess(["plan", "-f", cluster, "-f", usage]);
      const { code, stdout, stderr } = await running.ended;
      // It may say that it is planning, on a machine that is slow.
      expect(stderr).not.toContain("EK_");
      expect(code).toBe(1);
      expect(stdout).toMatch(/^6 nodes, 22 pods, usage at 2026-01-31T11:59:50/m);
      expect(stdout).toMatch(/^ +0 +0\.3003 +0\.3003 +█+$/m);
      expect(stdout).toMatch(/^1 +shop\/web-1-\d +Deployment\/web +a +0\.\d{4} +\w/m);
      expect(stdout).toMatch(/DisruptionBudget +shop\/checkout/);
    },
    PROCESS_TIMEOUT,
  );

  test("gives everything as JSON, from standard input too", async () => {
    const { code, answer } = await planned(["-f", `-,${cluster}`], {}, list(metrics));
    expect(code).toBe(1);
    expect(answer.at).toBe("2026-01-31T11:59:50.000Z");
    expect(answer.plan.moves.every(({ from }) => from === "a")).toBe(true);
    const { predicted, bound } = answer.plan.curve;
    expect(predicted).toHaveLength(answer.plan.moves.length + 1);
    for (const [index, sigma] of predicted.entries()) expect(sigma).toBeGreaterThanOrEqual((bound[index] ?? 0) - 1e-9);
  });

  test("keeps to the budget", async () => {
    expect((await planned(["-f", cluster, "-f", usage, "--budget=1"])).answer.plan.moves).toHaveLength(1);
  });

  test("exits 0 if the budget allows nothing", async () => {
    const unspent = await planned(["-f", cluster, "-f", usage, "--budget=0"]);
    expect(unspent).toMatchObject({ code: 0, answer: { plan: { outcome: "BudgetSpent" } } });
  });

  test("levels all nodes if the policy has a targetSigma", async () => {
    const level = policy("level.yaml", "{ targetSigma: 0.1 }");
    const { answer } = await planned(["-f", cluster, "-f", usage, "--policy", level]);
    expect(answer.plan.moves.length).toBeGreaterThan(2);
  });

  test("exits 0 if the policy selects nothing that could be moved", async () => {
    const none = policy("none.yaml", "{ namespaces: { include: [data] } }");
    const planless = await planned(["-f", cluster, "-f", usage, "--policy", none]);
    expect(planless).toMatchObject({ code: 0, answer: { plan: { moves: [] } } });
  });

  test("compares with descheduler, as emulated", async () => {
    const args = ["plan", "-f", cluster, "-f", usage, "--compare", "low-node-utilization:5"];
    const { code, stdout } = await evenkeel(args);
    expect(stdout).toMatch(/LowNodeUtilization \(emulated, band 5 %\): \d+ evictions/);
    expect(code).toBe(1);
  });

  test("levels requests if there is no usage, and says so", async () => {
    const { code, stdout } = await evenkeel(["plan", "-f", cluster]);
    expect(stdout).toMatch(/^6 nodes, 22 pods, requests at/m);
    expect(stdout).toContain("No usage");
    expect(code).toBe(1);
  });

  describe("saves the snapshot that it planned on", () => {
    let first: PlanAnswer;
    let saved: string;
    beforeAll(async () => {
      saved = join(folder, "saved.json");
      first = (await planned(["-f", cluster, "-f", usage, "--save", saved])).answer;
    });

    test("which gives the same plan", async () => {
      expect((await planned(["-f", saved])).answer.plan).toEqual(first.plan);
    });

    test("with hashed names too", async () => {
      const hashed = join(folder, "hashed.json");
      await planned(["-f", saved, "--save", hashed, "--hash-names", "--budget=0"]);
      expect(readFileSync(hashed, "utf8")).not.toMatch(/shop|checkout|registry/);
      expect((await planned(["-f", hashed])).answer.plan.moves).toHaveLength(first.plan.moves.length);
    });
  });

  test.each([
    ["a file that is not there", () => ["-f", join(folder, "absent.json")], "EK_PLANNER_BAD_FILE", "absent.json"],
    ["YAML", () => ["-f", file("cluster.yaml", "apiVersion: v1\n")], "EK_PLANNER_BAD_FILE", "-o json"],
    [
      "an object with a wrong field",
      () => ["-f", file("bad.json", '{"kind":"List","items":[{"kind":"Node","metadata":{"name":7}}]}')],
      ...(["EK_PLANNER_BAD_FILE", "bad.json, byte 24: items[0].metadata.name"] as const),
    ],
    [
      "no policy in the file",
      () => ["-f", cluster, "--policy", file("p.yaml", "a: 1\n")],
      "EK_PLANNER_BAD_POLICY",
      "p.yaml",
    ],
    [
      "a field of the policy that is wrong",
      () => ["-f", cluster, "--policy", policy("q.yaml", "{ hotThreshold: 7 }")],
      ...(["EK_PLANNER_BAD_POLICY", "spec.hotThreshold"] as const),
    ],
    [
      "a policy that contradicts itself",
      () => ["-f", cluster, "-f", usage, "--policy", policy("r.yaml", "{ hotThreshold: 0.3 }")],
      ...(["EK_CLI_WRONG_USAGE", "Threshold"] as const),
    ],
    [
      "usage of no node",
      () => ["-f", cluster, "--policy", policy("s.yaml", "{}")],
      ...(["EK_CLI_NOTHING_TO_PLAN_ON", "0 of 6"] as const),
    ],
    ["another comparison", () => ["-f", cluster, "--compare", "other"], "EK_CLI_WRONG_USAGE", "--compare"],
    ["--hash-names without --save", () => ["-f", cluster, "--hash-names"], "EK_CLI_WRONG_USAGE", "--save"],
  ])("exits 2 on %s", async (_name, args, reason, words) => {
    const { code, stderr } = await planned(args());
    expect(stderr).toContain(reason);
    expect(stderr).toContain(words);
    expect(code).toBe(2);
  });
});

describe("plan from a kubeconfig", () => {
  let api: ApiServer;
  let kubeconfig: string;
  const headers = { authorization: `Bearer ${ADMIN.token}` };
  const get = async (path: string) => (await fetch(`${api.url}${path}`, { headers })).text();
  const pods = async () =>
    (
      JSON.parse(await get("/api/v1/namespaces/shop/pods")) as {
        items: { metadata: { name: string }; status: object }[];
      }
    ).items;

  beforeAll(async () => {
    const behaviours = [...controlPlane, deployments, replicaSets, scheduling, kubelet({ startDelay: 0 })];
    api = await startApiServer({ users: [ADMIN], behaviours });
    kubeconfig = file("kubeconfig", kubeconfigFor(api.url, { token: ADMIN.token }));
    const node = (name: string) => api.load(JSON.stringify(simNode(name, { cpu: 4, memory: "16Gi" })));
    for (const name of ["a", "b"]) node(name);
    api.load(`
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 14
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: web, resources: {requests: {cpu: 500m, memory: 2Gi}}}]}`);
    await eventually(async () => expect((await pods()).filter(({ status }) => "startTime" in status)).toHaveLength(14));
    for (const name of ["c", "d", "e", "f"]) node(name);
    // Pods that started a moment ago stay.
    const longAgo = "2026-01-01T00:00:00Z";
    const conditions = [{ type: "Ready", status: "True", lastTransitionTime: longAgo }];
    const body = JSON.stringify({ status: { startTime: longAgo, conditions } });
    for (const { metadata } of await pods())
      await fetch(`${api.url}/api/v1/namespaces/shop/pods/${metadata.name}/status`, {
        ...{ method: "PATCH", body, headers: { ...headers, "content-type": "application/merge-patch+json" } },
      });
  });
  afterAll(() => api.stop());

  test("is the plan of files with the same objects, on requests without metrics", async () => {
    const paths = ["nodes", "pods", "namespaces"].map((plural) => `/api/v1/${plural}`);
    const apps = ["deployments", "replicasets"].map((plural) => `/apis/apps/v1/${plural}`);
    const files = await Promise.all(
      [...paths, ...apps].map(async (path, index) => file(`raw-${index}.json`, await get(path))),
    );
    const fromFiles = await planned(files.flatMap((path) => ["-f", path]));
    const fromCluster = await planned([], { KUBECONFIG: kubeconfig });
    expect(fromCluster.answer.notes.join()).toContain("metrics.k8s.io");
    expect(fromCluster.code).toBe(1);
    expect(fromCluster.answer.plan.moves.length).toBeGreaterThan(0);
    // Levels have the time of the plan.
    expect({ ...fromCluster.answer.plan, levels: {} }).toEqual({ ...fromFiles.answer.plan, levels: {} });
  });

  test("fails with the name of the right that the user lacks", async () => {
    const nobody = file("nobody", kubeconfigFor(api.url, { token: "wrong" }));
    const { code, stderr } = await planned([], { KUBECONFIG: nobody });
    expect(stderr).toContain("EK_KUBE_");
    expect(code).toBe(2);
  });
});
