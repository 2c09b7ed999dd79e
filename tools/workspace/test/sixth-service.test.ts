import { globSync, readFileSync, rmSync } from "node:fs";
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

/** Runs those cases of one file whose names have these words. */
const cases = (suite: "src" | "test", project: string, file: string, words: string) => {
  const jest = ["--experimental-vm-modules", "--no-warnings", "node_modules/jest/bin/jest.js"];
  const options = ["--config", "jest.config.mjs", "--rootDir", project, "--testNamePattern", words, file];
  return copy.run("env", `SUITE=${suite}`, "node", ...jest, ...options);
};

test(
  "a service fresh from the generator passes its checks and tests, and runs from its bundle",
  async () => {
    const said = await nx(["typecheck", "lint", "test", "integration"], NAME);
    expect(said).toContain(`nx run ${NAME}:bundle`);
    expect(said).toContain("holds while the level is unknown");
    expect(said).toContain("keeps the level that is asked for, says why, and stops when it is told to");
  },
  LIMIT,
);

test("a person reads less than 400 lines to know all of it", () => {
  const own = globSync([`apps/${NAME}/{src,dashboard,test}/**/*.{ts,tsx}`, `libs/api/src/${NAME}.ts`], {
    cwd: copy.root,
  });
  const lines = own.map((file) => readFileSync(join(copy.root, file), "utf8").split("\n").length - 1);
  const sum = lines.reduce((one, other) => one + other, 0);
  console.log(`a new service has ${sum} lines in ${own.length} files`);
  expect(sum).toBeLessThan(400);
});

test(
  "its kind has a definition that agrees with its schema, and manifests that are taken",
  async () => {
    expect(await cases("src", "libs/api", "manifests", "WindVane minimal")).toMatch(/[1-9]\d* passed/);
    expect(await cases("src", "tools/crds", "agreement", "WindVane")).toMatch(/[1-9]\d* passed/);
    await copy.run("node", "tools/crds/src/main.ts", "--check");
    await copy.run("node", "tools/workspace/src/main.ts", "drift");
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
    const kind = [`libs/api/src/${NAME}.ts`, "libs/api/src/kinds.ts", "libs/api/src/index.ts"];
    const others = ["charts", "docs/reference", "infra", "libs/api/test", "tools/cli/package.json", "tools/cli/src"];
    await Promise.all([
      nx(["typecheck"], "cli", "demo"),
      copy.run("eslint", "--max-warnings=0", registration, story, ...kind),
      copy.run("prettier", "--check", app, story, ...kind, ...others),
      copy.run("node", "tools/charts/src/main.ts", "generate", "--check"),
    ]);
  },
  LIMIT,
);

test(
  "the tests that count services count it too",
  async () => {
    const words = "definitions of every service";
    expect(await cases("src", "tools/workspace", "originals-commands", words)).toMatch(/1 passed/);
    expect(await cases("test", "tools/demo", "demo", "every service has a story")).toMatch(/1 passed/);
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
    const said = await copy.run("node", "tools/demo/src/main.ts", "--once");
    expect(said).toContain(`ok      ${NAME} sets the level that is asked for`);
    expect(said).toContain("ok      a level that a user changed is set back");
    expect(await cases("test", "tools/demo", "demo", "plays the stories")).toMatch(/1 passed/);
  },
  LIMIT,
);

programCase("helm")(
  "it is in the umbrella chart if it is enabled there",
  async () => {
    const helm = builtProgram("helm");
    await copy.run("node", "tools/charts/src/main.ts", "build", helm);
    const template = (...flags: string[]) => copy.run(helm, "template", "evenkeel", "charts/evenkeel", ...flags);
    const enabled = await template("--set", `${NAME}.enabled=true`);
    expect(enabled).toMatch(new RegExp(`kind: Deployment\nmetadata:\n *name: ${NAME}\n`));
    expect(enabled).toContain("name: windvanes.evenkeel.io\n");
    expect(await template("--set", "scale-resolver.enabled=true")).not.toContain(NAME);
    await copy.run(helm, "lint", `charts/${NAME}`);
  },
  LIMIT,
);
