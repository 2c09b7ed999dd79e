import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apply, kubectl, list, START_TIMEOUT_MS, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { afterAll, beforeAll, expect, test } from "@jest/globals";

const program = join(import.meta.dirname, "../dist/main.mjs");
const cluster = useCluster({ name: "cli-plan", nodes: { count: 3, cpu: "4", memory: "8Gi" } });
let folder: string;

/** Every pod of a Deployment is on one node, because the others took none at the time. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "cli-plan-e2e-"));
  const [, ...others] = (await list(cluster(), "nodes")).map(({ metadata }) => metadata.name);
  for (const node of others) await kubectl(cluster(), ["cordon", node]);
  const labels = { app: "press" };
  const resources = { requests: { cpu: "500m", memory: "1Gi" } };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "press:1", resources }] } };
  const metadata = { name: "press", namespace: "default" };
  await apply(cluster(), {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata },
    spec: { replicas: 7, selector: { matchLabels: labels }, template },
  });
  await apply(cluster(), {
    ...{ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata },
    spec: { maxUnavailable: 2, selector: { matchLabels: labels } },
  });
  await kubectl(cluster(), ["rollout", "status", "deployment/press", "--timeout=60s"]);
  for (const node of others) await kubectl(cluster(), ["uncordon", node]);
}, START_TIMEOUT_MS);
afterAll(() => rmSync(folder, { recursive: true }));

interface Planned {
  readonly notes: readonly string[];
  readonly plan: { readonly moves: readonly { readonly landings: readonly unknown[] }[]; readonly levels: object };
}

function evenkeel(args: readonly string[], kubeconfig = ""): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, KUBECONFIG: kubeconfig };
  return new Promise((resolve) =>
    execFile(process.execPath, [program, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    ),
  );
}

test(
  "the files that its help asks for give the plan that the cluster gives to a user who may list the same",
  async () => {
    const help = (await evenkeel(["plan", "--help"])).stdout;
    const [, resources = ""] = /kubectl get (\S+) -A -o json/.exec(help) ?? [];
    const file = join(folder, "cluster.json");
    writeFileSync(file, await kubectl(cluster(), ["get", resources, "-A", "-o", "json"]));
    const fromFile = await evenkeel(["plan", "-f", file, "-o", "json"]);
    const reader = await cluster().kubeconfigFor({ user: "reader" });
    await kubectl(cluster(), ["create", "clusterrole", "plan", "--verb=list", `--resource=${resources}`]);
    await kubectl(cluster(), ["create", "clusterrolebinding", "plan", "--clusterrole=plan", "--user=reader"]);
    const fromCluster = await evenkeel(["plan", "-o", "json"], reader);
    expect(fromCluster).toMatchObject({ code: 1, stderr: "" });
    expect(fromFile).toMatchObject({ code: 1, stderr: "" });
    const [one, other] = [fromFile, fromCluster].map(({ stdout }) => JSON.parse(stdout) as Planned);
    // Two of seven may be moved: the disruption budget allows no more.
    expect(other?.plan.moves).toHaveLength(2);
    expect(other?.notes.join()).toContain("metrics.k8s.io");
    // Levels have the time of the plan.
    expect({ ...one?.plan, levels: {} }).toEqual({ ...other?.plan, levels: {} });
  },
  TEST_TIMEOUT_MS,
);
