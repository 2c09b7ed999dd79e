import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";

const mainFile = join(import.meta.dirname, "../src/main.ts");

function ballast(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [mainFile, ...args], {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}

test("--help names every setting, its variables and its default", () => {
  const { status, stdout } = ballast(["--help"]);
  expect(status).toBe(0);
  expect(stdout).toContain("--target <integer>");
  expect(stdout).toContain("EVENKEEL_TARGET, BALLAST_TARGET; default 50");
  expect(stdout).toContain("ballast replay <file>");
});

test("--version names the version", () => {
  expect(ballast(["--version"])).toMatchObject({ status: 0, stdout: "ballast 0.1.0\n" });
});

describe("--print-settings", () => {
  test("tells each value and where it came from, and masks secrets", () => {
    const { status, stdout } = ballast(["--print-settings", "--level-file=level", "--radio-token", "swordfish"], {
      BALLAST_TARGET: "60",
    });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^target +60 {2}\(\$BALLAST_TARGET\)$/m);
    expect(stdout).toMatch(/^radio-token +\*+ {2}\(--radio-token\)$/m);
    expect(stdout).not.toContain("swordfish");
  });
});

describe("bad settings exit 2 with one line each", () => {
  test("all faults at once", () => {
    const { status, stdout, stderr } = ballast(["--interval", "soon", "--targt=1"], { EVENKEEL_ADMIN_PORT: "99999" });
    expect(status).toBe(2);
    expect(stdout).toBe("");
    expect(stderr.split("\n")).toEqual([
      "ballast: EK_RUNTIME_BAD_SETTINGS: --targt: unknown flag; did you mean --target?",
      'ballast: EK_RUNTIME_BAD_SETTINGS: $EVENKEEL_ADMIN_PORT: "99999" is not a port from 0 to 65535',
      "ballast: EK_RUNTIME_BAD_SETTINGS: --level-file (or EVENKEEL_LEVEL_FILE) is required: File that holds the tank's level, a number from 0 to 100",
      'ballast: EK_RUNTIME_BAD_SETTINGS: --interval: "soon" is not a duration such as 250ms, 30s or 1h30m',
      "",
    ]);
  });

  test("settings that contradict each other", () => {
    const { status, stderr } = ballast(["--level-file=level", "--target=5", "--tolerance=10"]);
    expect(status).toBe(2);
    expect(stderr).toBe(
      "ballast: EK_RUNTIME_BAD_SETTINGS: --tolerance 10 is more than --target 5: an empty tank would pass; lower it\n",
    );
  });

  test("a verb that does not exist", () => {
    expect(ballast(["sail"])).toMatchObject({
      status: 2,
      stderr: "ballast: EK_RUNTIME_UNKNOWN_VERB: unknown verb sail; --help lists the verbs\n",
    });
  });
});
