import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { fixtureCluster } from "@evenkeel/eviction-planner/testing";
import { admin } from "./api-server.ts";
import { RebalanceWorld } from "./rebalance-world.ts";

const START_TIMEOUT = 90_000;

const bundle = join(import.meta.dirname, "../dist/main.mjs");
let folder: string;
let program: string;
let world: RebalanceWorld;
let kubeconfig: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "cli-bundle-"));
  program = join(folder, "kubectl-evenkeel");
  copyFileSync(bundle, program);
  world = await RebalanceWorld.start();
  kubeconfig = await world.server.kubeconfig(admin);
  await world.service.line(
    ({ object, before, after }) => object === "Rebalance/shop/checkout" && before === 16 && after === 16,
  );
}, START_TIMEOUT);

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** The Node of the workspace, and the one of the machine, which users have. */
const nodes = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((place) => !place.includes("node_modules"))
  .map((place) => join(place, "node"));
const versionOf = (node: string) => execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
const onMachine = nodes.find((node) => statSync(node, { throwIfNoEntry: false })?.isFile());
const runtimes = [process.execPath, ...(onMachine === undefined ? [] : [onMachine])].map(
  (node) => [versionOf(node), node] as const,
);

test("the bundle is smaller than 5 MB and can be executed", () => {
  const { size, mode } = statSync(bundle);
  expect(size).toBeLessThan(5 * 1024 * 1024);
  expect(mode & 0o111).toBe(0o111);
});

describe.each(runtimes)("on Node %s the bundle, with nothing beside it,", (_version, node) => {
  /** As a user runs it: the first line of the file finds Node on the PATH. */
  function run(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const env = { HOME: folder, PATH: [dirname(node), "/usr/bin", "/bin"].join(delimiter), ...more };
    return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(program, args, { cwd: folder, env, timeout: 25_000 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
  }
  const inCluster = (...args: readonly string[]) => run(args, { KUBECONFIG: kubeconfig });

  test("prints its version, and says that there is no cluster", async () => {
    expect(await run(["--version"])).toEqual({ code: 0, stdout: "kubectl evenkeel 0.1.0\n", stderr: "" });
    expect(await run(["status"])).toMatchObject({ code: 1, stderr: expect.stringContaining("EK_KUBE_NO_CLUSTER") });
  });

  test("reaches a service by its address", async () => {
    const { code, stdout } = await run(["status", `--address=${await world.service.url("admin", "")}`]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Rebalance\/shop\/checkout +weight-rebalancer /m);
  });

  test("explains and simulates through the API server, and doctor checks the cluster", async () => {
    const explained = await inCluster("explain", "rebalance/shop/checkout");
    expect(explained).toMatchObject({ code: 0, stdout: expect.stringContaining("2999.88") });
    const simulated = await inCluster("what-if", "rebalance/shop/checkout", "--metric=1500", "-o", "json");
    expect(JSON.parse(simulated.stdout)).toMatchObject({ before: 16, after: 4 });
    expect((await inCluster("doctor")).stdout).toMatch(/^ok {4}crds +rebalances\.rebalancer\.ch1aki\.github\.io /m);
  });

  test("plans evictions in a thread of the same file", async () => {
    const { objects, metrics } = fixtureCluster();
    const file = join(folder, "cluster.json");
    writeFileSync(file, JSON.stringify({ kind: "List", apiVersion: "v1", items: [...objects, ...metrics] }));
    const { code, stdout } = await run(["plan", "-f", file, "--compare=low-node-utilization", "-o", "json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ plan: { nodes: { known: 6, hot: 1 } }, comparison: { band: 10 } });
  });

  test("saves a snapshot and repeats its decision", async () => {
    const listed = await inCluster("decisions", "--limit=1", "-o", "json");
    const [{ id = "" } = {}] = (JSON.parse(listed.stdout) as { decisions: { id?: string }[] }).decisions;
    const { stdout: recording } = await inCluster("snapshot", id, "-f", "-");
    const file = join(folder, `${id}.json`);
    writeFileSync(file, recording);
    expect(await run(["replay", file, "-o", "json"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"same": true'),
    });
  });
});
