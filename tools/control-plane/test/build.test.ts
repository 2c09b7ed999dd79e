import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";

jest.setTimeout(60_000);

const main = join(import.meta.dirname, "../src/main.ts");
let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "control-plane-"));
});

afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line in a world of its own: its folders are empty and only `path` is on the PATH. */
async function run(
  args: readonly string[],
  path = "",
  onStderr: (text: string) => void = () => undefined,
): Promise<Outcome> {
  const env = { PATH: path, HOME: base, XDG_CACHE_HOME: join(base, "cache"), XDG_STATE_HOME: join(base, "state") };
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const outcome = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (outcome.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    outcome.stderr += text;
    onStderr(outcome.stderr);
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, ...outcome })));
}

describe("a build", () => {
  /** Installs a program `go` of our own, because the real one takes minutes. It notes its arguments in a file. */
  function installGo(version: string, buildScript: string): string {
    const path = join(base, "go-bin");
    mkdirSync(path);
    const script = `#!/bin/sh
echo "$*" >> ${base}/calls
case "$1" in
version) echo "go version go${version} linux/amd64" ;;
build) while [ "$1" != -o ]; do shift; done; ${buildScript} ;;
esac
`;
    writeFileSync(join(path, "go"), script);
    chmodSync(join(path, "go"), 0o755);
    return `${path}:/usr/bin:/bin`;
  }

  const builds = (): number => readFileSync(join(base, "calls"), "utf8").match(/^build /gm)?.length ?? 0;

  test("says what to install when there is no Go", async () => {
    const { code, stderr } = await run(["build"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^EK_CLUSTER_GO_MISSING: .* install Go 1\.26\.0 or later$/m);
  });

  test("says what to install when Go is too old", async () => {
    const { code, stderr } = await run(["build"], installGo("1.25.9", "exit 1"));
    expect(code).toBe(1);
    expect(stderr).toContain("EK_CLUSTER_GO_TOO_OLD");
    expect(stderr).toContain("go1.25.9");
    expect(builds()).toBe(0);
  });

  test("tells its progress, prints the folder, and does nothing the second time", async () => {
    const path = installGo("1.26.0", 'echo program > "$2"');
    const first = await run(["build", "--binaries=kubectl,helm"], path);
    expect(first.code).toBe(0);
    expect(first.stderr).toMatch(
      /^\[1\/2\] kubectl: building\n\[1\/2\] kubectl: built in \d+ s\n\[2\/2\] helm: building\n/,
    );
    expect(readdirSync(first.stdout.trim()).sort()).toEqual(["helm", "kubectl"]);
    expect(await run(["build", "--binaries=kubectl,helm"], path)).toEqual({
      code: 0,
      stdout: first.stdout,
      stderr: "",
    });
    expect(builds()).toBe(2);
  });

  test("by two processes at once builds each program once", async () => {
    const path = installGo("1.26.0", `while [ ! -e ${base}/waiting ]; do sleep 0.02; done; echo program > "$2"`);
    const onStderr = (text: string): void => {
      if (text.includes("another process")) writeFileSync(join(base, "waiting"), "");
    };
    const outcomes = await Promise.all([1, 2].map(() => run(["build", "--binaries=kubectl,helm"], path, onStderr)));
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0]);
    expect(builds()).toBe(2);
  });

  test("that fails shows what Go said and leaves no file behind", async () => {
    const path = installGo("1.26.0", 'echo half > "$2"; echo "no such module" >&2; exit 1');
    const { code, stderr } = await run(["build", "--binaries=kubectl"], path);
    expect(code).toBe(1);
    expect(stderr).toContain("EK_CLUSTER_BUILD_FAILED: kubectl (k8s.io/kubernetes/cmd/kubectl)");
    expect(stderr).toContain("no such module");
    const files = readdirSync(join(base, "cache"), { recursive: true, encoding: "utf8" });
    expect(files.filter((file) => dirname(file).endsWith("/bin"))).toEqual([]);
    expect(existsSync(join(base, "state"))).toBe(false);
  });
});
