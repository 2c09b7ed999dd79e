import { execFile, type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** What the suite runs, and where to get it. */
const NEEDED: Readonly<Record<string, string>> = {
  wrk: "apt-get install wrk",
  nginx: "apt-get install nginx-light",
  go: "https://go.dev/dl/, 1.24 or later",
};

/** Throws an error that names every program which is missing and how to get it. */
export async function requirePrograms(): Promise<void> {
  const missing: string[] = [];
  for (const [program, source] of Object.entries(NEEDED)) {
    try {
      await execute("which", [program]);
    } catch {
      missing.push(`${program} (${source})`);
    }
  }
  if (missing.length > 0) throw new Error(`the forward suite needs programs that are not here: ${missing.join(", ")}`);
}

/** Builds a suite's Go proxy into the cache and gives its path. Go itself knows whether anything changed. */
export async function buildRival(suite = "forward"): Promise<string> {
  const folder = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "evenkeel", "bench");
  const target = join(folder, `${suite}-rival`);
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, CGO_ENABLED: "0" };
  await execute("go", ["build", "-trimpath", "-o", target, "."], {
    cwd: join(import.meta.dirname, "..", suite, "rival"),
    env,
  });
  return target;
}

export interface Running {
  readonly pid: number;
  readonly port: number;
  stop(): void;
}

/** Starts a program that prints the port it listens on as its first line. */
export async function start(command: string, args: readonly string[]): Promise<Running> {
  const child: ChildProcessByStdio<null, Readable, null> = spawn(command, args, {
    stdio: ["ignore", "pipe", "inherit"],
    // http-proxy calls a function that Node has deprecated.
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  for await (const line of createInterface(child.stdout)) {
    const port = Number(line);
    if (child.pid === undefined || !Number.isInteger(port)) break;
    child.stdout.resume();
    return { pid: child.pid, port, stop: () => child.kill("SIGKILL") };
  }
  child.kill("SIGKILL");
  throw new Error(`${command} ${args.join(" ")} did not say which port it listens on`);
}
