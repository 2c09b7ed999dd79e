import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { runCommandLine } from "./command-line.ts";

let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "control-plane-"));
});

afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

/** Runs a command line where nothing was ever built or started. */
async function run(...args: string[]): Promise<{ code: number; printed: string; said: string }> {
  const printed: string[] = [];
  const said: string[] = [];
  const code = await runCommandLine(args, {
    folders: { cache: join(base, "cache"), state: join(base, "state") },
    print: (line) => printed.push(line),
    say: (line) => said.push(line),
  });
  return { code, printed: printed.join("\n"), said: said.join("\n") };
}

describe("the command line", () => {
  test.each([[["--help"]], [["help"]], [["start", "--help"]]])("explains itself for %j", async (args) => {
    const { code, printed } = await run(...args);
    expect(code).toBe(0);
    for (const verb of ["build", "start", "stop", "status", "sweep"]) {
      expect(printed).toMatch(new RegExp(`^  ${verb} `, "m"));
    }
  });

  test.each([
    [[], "a verb is missing"],
    [["begin"], '"begin"'],
    [["start", "--node=3"], "--node must be kwok or real"],
    [["start", "--node=real", "--nodes=3"], "nodes is for KWOK nodes"],
    [["start", "--worker=3"], "Unknown option '--worker'"],
    [["load"], "name the archives"],
    [["load", "image.tar"], "no cluster evenkeel is running"],
    [["start", "--nodes=many"], "--nodes must be a whole number"],
    [["start", "--name=Not_a_label"], 'the name "Not_a_label"'],
    [["start", "--feature-gates=A"], "--feature-gates takes"],
    [["start", "mine"], '"mine"'],
    [["stop", "a", "b"], '"b"'],
    [["build", "--binaries=kubectl,kubelet"], '"kubelet"'],
  ])("refuses %j with exit code 2", async (args, reason) => {
    const { code, printed, said } = await run(...args);
    expect({ code, printed }).toEqual({ code: 2, printed: "" });
    expect(said).toContain(reason);
  });

  test.each([
    [["stop"], "no cluster evenkeel is running"],
    [["stop", "mine"], "no cluster mine is running"],
    [["stop", "--all"], "no kept cluster is running"],
    [["status"], "no cluster is running"],
    [["sweep"], "nothing to clean up"],
  ])("says for %j that there is nothing to do", async (args, said) => {
    expect(await run(...args)).toEqual({ code: 0, printed: "", said });
  });
});
