import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Ballast } from "./ballast.ts";

const bundle = join(import.meta.dirname, "../dist/main.mjs");
let folder: string;
let program: string;
let env: NodeJS.ProcessEnv;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "cli-bundle-"));
  program = join(folder, "kubectl-evenkeel");
  copyFileSync(bundle, program);
  env = { HOME: folder, PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter) };
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const run = (...args: string[]) => spawnSync(program, args, { cwd: folder, env, encoding: "utf8", timeout: 25_000 });

test("the bundle is one file that can be run by its name, with nothing beside it", () => {
  expect(statSync(bundle).mode & 0o111).toBe(0o111);
  expect(run("--version")).toMatchObject({ status: 0, stdout: "kubectl evenkeel 0.1.0\n", stderr: "" });
  expect(run("status")).toMatchObject({ status: 1, stdout: "" });
  expect(run("status").stderr).toContain("EK_KUBE_NO_CLUSTER");
});

test("the bundle is smaller than 10 MB", () => {
  expect(statSync(bundle).size).toBeLessThan(10 * 1024 * 1024);
});

test("the bundle asks a service", async () => {
  await using ballast = await Ballast.start();
  const answer = execFileSync(program, ["status", `--address=${await ballast.address()}`], { env, encoding: "utf8" });
  expect(answer).toContain("Tank/main");
});
