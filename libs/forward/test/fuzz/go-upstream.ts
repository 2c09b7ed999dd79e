import { execFile, spawn } from "node:child_process";
import { mkdirSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { Seen, Upstream } from "./seen.ts";

/** An upstream on Go's net/http, built into the cache. Go itself knows whether anything changed. */
export async function startGoUpstream(): Promise<Upstream> {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const folder = join(cache, "evenkeel", "forward-fuzz");
  mkdirSync(folder, { recursive: true });
  const program = join(folder, "echo");
  const built = `${program}.${process.pid}`;
  const env = { ...process.env, CGO_ENABLED: "0" };
  const cwd = join(import.meta.dirname, "echo");
  await promisify(execFile)("go", ["build", "-trimpath", "-o", built, "."], { cwd, env });
  // A whole file or none, also for another run of this test at the same time.
  renameSync(built, program);

  const child = spawn(program, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface(child.stdout)) {
    const [port = NaN, control = NaN] = line.split(" ").map(Number);
    return {
      port,
      taken: async () => (await (await fetch(`http://127.0.0.1:${control}`)).json()) as Seen[],
      stop: () => child.kill("SIGKILL"),
    };
  }
  throw new Error("the Go upstream did not start");
}
