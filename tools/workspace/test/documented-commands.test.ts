import { execFile, spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { documentedCommands, documentedTargets, inlineCommands, targetsOf } from "../src/documented-commands.ts";
import { workspaceRoot } from "../src/index.ts";
import { programCase } from "./built-program.ts";
import { WorkspaceCopy } from "./workspace-copy.ts";

const LIMIT = 300_000;

/** Commands that are not run here, and why. */
const LEFT_OUT: readonly (readonly [command: RegExp, why: string])[] = [
  [/^(kubectl|helm|istioctl|curl) /, "needs a cluster or a running service"],
  [/^(kind|minikube|skopeo) /, "needs that program, and a cluster or a registry"],
  [/^(git clone|npm install)/, "needs a network"],
  [/^export [A-Z]+=/, "is what the command above it prints"],
  [/^node_modules\/\.bin\/(node|nx) /, "runs the workspace's own Node, which `make` does in these tests"],
  [/^make (check|test|e2e|soak|bench)/, "CI runs it, or it takes minutes"],
  [/^make (demo|cluster|new|images|deploy)/, "has a test of its own"],
];

/** The PATH of a person: without the workspace's own programs. */
const path = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .join(delimiter);

/** Of the machine's own Node, which these commands find. */
const version = spawnSync("sh", ["-c", "node --version"], { env: { PATH: path }, encoding: "utf8" }).stdout.trim();

const pages = globSync(["*.md", "docs/**/*.md", "{apps,infra}/**/*.md", "{charts,libs/*,tools/*}/README.md"], {
  cwd: workspaceRoot,
  exclude: (name) => name === "node_modules",
}).map((file) => ({ file, text: readFileSync(join(workspaceRoot, file), "utf8") }));
const commands = [...new Set(pages.flatMap(({ text }) => [...documentedCommands(text), ...inlineCommands(text)]))];

describe("the commands of README and docs", () => {
  let copy: WorkspaceCopy;
  let bin: string;

  beforeAll(async () => {
    copy = await WorkspaceCopy.make();
    bin = join(copy.root, "user-bin");
    mkdirSync(bin);
    // As after `npm ci`, which these links stand in for.
    writeFileSync(join(copy.root, "node_modules/.installed"), "");
  }, LIMIT);
  afterAll(() => copy[Symbol.dispose]());

  /** Runs a line as a person does, but installs into a folder of the test. */
  async function shell(line: string): Promise<string> {
    const { stdout } = await promisify(execFile)("bash", ["-ec", line.replaceAll("/usr/local/bin", bin)], {
      cwd: copy.root,
      env: { HOME: process.env["HOME"], PATH: `${bin}${delimiter}${path}` },
    });
    return stdout;
  }

  test("are each run here or left out for a reason", () => {
    const isRun = (command: string) =>
      targetsOf(command).some((target) => ["charts", "cli", "generate", "help"].includes(target)) ||
      /^(node|install) tools\/cli\/dist\/main\.mjs /.test(command);
    const isLeftOut = (command: string) => LEFT_OUT.some(([pattern]) => pattern.test(command));
    expect(commands.filter((command) => !isRun(command) && !isLeftOut(command))).toEqual([]);
  });

  test("name targets that the Makefile has", () => {
    const known = [...readFileSync(join(workspaceRoot, "Makefile"), "utf8").matchAll(/^([a-z0-9-]+):/gm)];
    // The pages of services quote targets of the originals too.
    const own = pages.filter(({ file }) => !file.startsWith("docs/services/"));
    const named = new Set(own.flatMap(({ text }) => documentedTargets(text)));
    expect([...named].filter((target) => !known.some(([, name]) => name === target))).toEqual([]);
  });

  test("list every target", async () => {
    expect(await shell("make help")).toMatch(/make charts .*\n.*make cli /);
  });

  (version === "" ? test.skip : test)(
    `build the command line, which runs on the machine's own Node ${version || "(there is none)"}`,
    async () => {
      expect(commands).toContain("make cli");
      await shell("make cli && install tools/cli/dist/main.mjs /usr/local/bin/kubectl-evenkeel");
      expect(await shell("node tools/cli/dist/main.mjs --help")).toContain("explain");
      expect(await shell("kubectl-evenkeel --help")).toContain("explain");
    },
    LIMIT,
  );

  test("build the image of each service with the engine that is there", async () => {
    const plain = join(copy.root, "plain-bin");
    mkdirSync(plain);
    for (const program of ["bash", "dirname", "make", "mkdir", "rm", "sed"]) {
      symlinkSync((await shell(`command -v ${program}`)).trim(), join(plain, program));
    }
    writeFileSync(join(plain, "buildah"), '#!/bin/bash\necho "$@"\n', { mode: 0o755 });
    const said = (await shell(`PATH=${plain} make --silent images 2>&1`)).trim().split("\n");
    expect(said).toContainEqual(
      expect.stringMatching(/^build .*SERVICE=weight-rebalancer .* evenkeel\/weight-rebalancer:/),
    );
    expect(said).toContainEqual(
      expect.stringMatching(
        /^push evenkeel\/weight-rebalancer:\S+ docker-archive:apps\/weight-rebalancer\/dist\/image.tar:/,
      ),
    );
    const services = globSync("apps/*/src", { cwd: copy.root }).length;
    expect(said.filter((line) => line.startsWith("build "))).toHaveLength(services);
  });

  programCase("helm")(
    "pack the charts",
    async () => {
      expect(commands).toContain("make charts");
      await shell("make charts");
      expect(globSync("charts/evenkeel/charts/*.tgz", { cwd: copy.root }).length).toBeGreaterThan(0);
    },
    LIMIT,
  );
});
