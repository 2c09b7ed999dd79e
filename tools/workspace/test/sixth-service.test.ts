import { globSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { WorkspaceCopy } from "./workspace-copy.ts";
import { builtProgram, programCase } from "./built-program.ts";

const NAME = "wind-vane";
const LIMIT = 300_000;
let copy: WorkspaceCopy;

beforeAll(async () => {
  copy = await WorkspaceCopy.make();
  await copy.run("node", "tools/workspace/src/main.ts", "new", "app", NAME);
  copy.link(NAME, `apps/${NAME}`);
}, LIMIT);
afterAll(() => copy[Symbol.dispose]());

const nx = (targets: readonly string[], ...projects: string[]) =>
  copy.run("nx", "run-many", "--projects", ...projects, "--target", ...targets, "--output-style", "static");

test(
  "a service fresh from the generator passes its checks and tests, and runs from its bundle",
  async () => {
    const said = await nx(["typecheck", "test", "integration"], NAME);
    expect(said).toContain(`nx run ${NAME}:bundle`);
    expect(said).toContain("holds while the load is unknown");
    expect(said).toContain("leads, decides and says why, and stops when it is told to");
  },
  LIMIT,
);

test(
  "what it adds to the command line, the demo and the charts fits in there, and all of it is clean",
  async () => {
    const [app, registration, story] = [
      `apps/${NAME}`,
      `tools/cli/src/services/${NAME}.ts`,
      `tools/demo/stories/${NAME}.ts`,
    ];
    const others = ["charts", "infra", "tools/cli/package.json", "tools/cli/src/services/index.ts"];
    await Promise.all([
      nx(["typecheck"], "cli", "demo"),
      copy.run("eslint", "--max-warnings=0", app, registration, story),
      copy.run("prettier", "--check", app, registration, story, ...others),
      copy.run("node", "tools/charts/src/main.ts", "generate", "--check"),
    ]);
  },
  LIMIT,
);

test(
  "it shows up in the demo",
  async () => {
    // The stories of the others are told by the demo's own test.
    for (const story of globSync("tools/demo/stories/*.ts", { cwd: copy.root })) {
      if (!story.endsWith(`${NAME}.ts`)) rmSync(join(copy.root, story));
    }
    expect(await copy.run("node", "tools/demo/src/main.ts", "--once")).toContain(
      `ok      ${NAME} decides and says why`,
    );
  },
  LIMIT,
);

programCase("helm")(
  "it shows up in the umbrella chart, and is left out by its switch",
  async () => {
    const helm = builtProgram("helm");
    await copy.run("node", "tools/charts/src/main.ts", "build", helm);
    const template = (...flags: string[]) => copy.run(helm, "template", "evenkeel", "charts/evenkeel", ...flags);
    expect(await template()).toMatch(new RegExp(`kind: Deployment\nmetadata:\n *name: ${NAME}\n`));
    expect(await template("--set", `${NAME}.enabled=false`)).not.toContain(NAME);
    await copy.run(helm, "lint", `charts/${NAME}`);
  },
  LIMIT,
);
