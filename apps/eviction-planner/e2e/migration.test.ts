import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { helmEnvironment, helmOutput, pinnedHelm } from "@evenkeel/e2e/helm";
import { expect, test } from "@jest/globals";

const root = join(import.meta.dirname, "../../..");

/** Values as a user of the original's chart has them. */
const ORIGINAL_VALUES = `
image: { repository: ghcr.io/example/rebalancer-operator, tag: 1.2.0, pullPolicy: IfNotPresent }
replicaCount: 1
policy: { dryRun: false }
`;

test("the command of the migration installs the image of this service, whatever image the values name", async () => {
  const page = readFileSync(join(root, "docs/services/eviction-planner.md"), "utf8");
  const [, section = ""] = page.split("## Migrate from rebalancer-operator\n");
  const [command = ""] = /^ {4}helm upgrade (?:[^\n]*\\\n)*[^\n]*/m.exec(section) ?? [];
  const words = command.split(/[\s\\]+/).filter((word) => word !== "");
  expect(words.slice(0, 5)).toEqual(["helm", "upgrade", "--install", "rebalancer", "charts/eviction-planner"]);
  const folder = mkdtempSync(join(tmpdir(), "planner-migration-"));
  try {
    for (const chart of ["lib", "eviction-planner"]) {
      cpSync(join(root, "charts", chart), join(folder, "charts", chart), { recursive: true });
    }
    writeFileSync(join(folder, "your-values.yaml"), ORIGINAL_VALUES);
    const paths = new Map(["charts/eviction-planner", "your-values.yaml"].map((path) => [path, join(folder, path)]));
    const args = words.slice(3).map((word) => paths.get(word) ?? word);
    const helm = await pinnedHelm();
    const run = (...all: readonly string[]) => helmOutput(helm, all, helmEnvironment(join(folder, "helm"), ""));
    await run("dependency", "update", "--skip-refresh", join(folder, "charts/eviction-planner"));
    const rendered = await run("template", ...args.filter((word) => word !== "--take-ownership"));
    const images = [...rendered.matchAll(/ image: (.+)$/gm)].map(([, image]) => image);
    expect(images.length).toBeGreaterThan(0);
    for (const image of images) expect(image).toMatch(/^"?evenkeel\/eviction-planner:\d+\.\d+\.\d+"?$/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
