import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildBinaries, foldersFrom, type Toolset } from "@evenkeel/control-plane";
import { START_TIMEOUT_MS } from "@evenkeel/e2e";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { fleet, type Harbour, harbourKubeconfig, startHarbour } from "../src/index.ts";

const run = promisify(execFile);
let harbour: Harbour;
let folder: string;
let toolset: Toolset;

beforeAll(async () => {
  toolset = await buildBinaries({ binaries: ["kubectl"], folders: foldersFrom(process.env) });
  harbour = await startHarbour();
  folder = await mkdtemp(join(tmpdir(), "demo-kubectl-"));
  await writeFile(join(folder, "kubeconfig"), harbourKubeconfig(harbour.url));
}, START_TIMEOUT_MS);

afterAll(async () => {
  await harbour.stop();
  await rm(folder, { recursive: true });
});

/** What a person who follows the demo's lines sees. */
async function kubectl(...args: string[]): Promise<string> {
  const env = { ...process.env, KUBECONFIG: join(folder, "kubeconfig"), KUBECACHEDIR: join(folder, "cache") };
  return (await run(toolset.path("kubectl"), args, { env })).stdout;
}

test("kubectl shows the demo's nodes, rolls its Deployments out and scales them", async () => {
  expect((await kubectl("get", "nodes", "--no-headers")).match(/ Ready /g)).toHaveLength(4);
  for (const [name] of fleet) {
    expect(await kubectl("rollout", "status", `deployment/${name}`, "--timeout=60s")).toContain(
      "successfully rolled out",
    );
  }
  await kubectl("scale", "deployment/mail", "--replicas=5");
  expect(await kubectl("rollout", "status", "deployment/mail", "--timeout=60s")).toContain("successfully rolled out");
  expect((await kubectl("get", "pods", "-l", "app=mail", "--no-headers")).match(/Running/g)).toHaveLength(5);
});

test("kubectl applies a custom resource of the project", async () => {
  const manifest = join(import.meta.dirname, "../../../libs/api/test/fixtures/elastiservice.yaml");
  await kubectl("apply", "-f", manifest);
  expect(await kubectl("get", "elastiservices", "-A")).toContain("full");
});
