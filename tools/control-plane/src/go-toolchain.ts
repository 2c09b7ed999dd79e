import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ControlPlaneError, isSystemError } from "./errors.ts";

const run = promisify(execFile);

/** Environment of every call of Go: no C compiler, and no go.work of a folder above. */
export function goEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, CGO_ENABLED: "0", GOWORK: "off" };
}

/** The version in the output of `go version`, such as 1.26.8; undefined if not found. */
export function parseGoVersion(output: string): string | undefined {
  return /\bgo(\d+(?:\.\d+)*)/.exec(output)?.[1];
}

/** The oldest Go that a go.mod accepts. */
export function requiredGoVersion(goMod: string): string {
  const version = /^go (\d+(?:\.\d+)*)$/m.exec(goMod)?.[1];
  if (version === undefined) throw new Error("go.mod has no line `go <version>`");
  return version;
}

/** Whether dotted version `actual` is `required` or later; a missing part counts as 0. */
export function isAtLeast(actual: string, required: string): boolean {
  const have = actual.split(".").map(Number);
  const want = required.split(".").map(Number);
  for (let index = 0; index < Math.max(have.length, want.length); index += 1) {
    const difference = (have[index] ?? 0) - (want[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** Rejects unless Go is installed and can build the module in `folder`, or can fetch a version that does. */
export async function requireGo(folder: string): Promise<void> {
  const required = requiredGoVersion(readFileSync(join(folder, "go.mod"), "utf8"));
  let output: string;
  try {
    output = (await run("go", ["version"], { cwd: folder, env: goEnvironment() })).stdout;
  } catch (error) {
    if (!isSystemError(error, "ENOENT")) throw error;
    throw new ControlPlaneError(
      "EK_CLUSTER_GO_MISSING",
      `the pinned programs are built from source and \`go\` is not on the PATH; install Go ${required} or later`,
      { cause: error },
    );
  }
  const version = parseGoVersion(output);
  if (version === undefined || !isAtLeast(version, required)) {
    throw new ControlPlaneError(
      "EK_CLUSTER_GO_TOO_OLD",
      `Go ${required} or later is needed and \`go version\` says "${output.trim()}"; install a newer Go`,
    );
  }
}
