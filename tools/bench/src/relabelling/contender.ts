import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { world } from "./world.ts";

const MODULE = join(import.meta.dirname, "../../go/relabelling");

/** One pass over all targets. */
export interface Round {
  /** CPU seconds of all threads, so that garbage collection counts. */
  readonly seconds: number;
  readonly kept: number;
}

/** A program that holds all targets and relabels them when asked. */
export interface Contender extends AsyncDisposable {
  pass(job: string): Promise<Round>;
}

export function ours(): Promise<Contender> {
  return start(process.execPath, ["--expose-gc", join(import.meta.dirname, "pass.ts")]);
}

/** The same loop on Prometheus's own library. */
export async function prometheus(progress: (line: string) => void): Promise<Contender> {
  return start(await built(progress), [JSON.stringify(world)]);
}

async function built(progress: (line: string) => void): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum", "main.go"]) hash.update(readFileSync(join(MODULE, file)));
  const folder = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "evenkeel", "bench");
  const target = join(folder, `relabelling-${hash.digest("hex").slice(0, 12)}`);
  if (existsSync(target)) return target;
  progress("building the peer, which takes some minutes the first time");
  mkdirSync(folder, { recursive: true });
  const temporary = `${target}.${process.pid}`;
  const env = { ...process.env, CGO_ENABLED: "0", GOWORK: "off" };
  const flags = ["-trimpath", "-ldflags=-s -w", "-tags", "remove_all_sd", "-o", temporary];
  await promisify(execFile)("nice", ["-n", "19", "go", "build", ...flags, "."], { cwd: MODULE, env });
  renameSync(temporary, target);
  return target;
}

async function start(program: string, args: readonly string[]): Promise<Contender> {
  const child = spawn(program, args, {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, GOMAXPROCS: "2" },
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const { done, value } = await lines.next();
    if (done) throw new Error(`${program} ended early`);
    return value;
  };
  await line();
  return {
    async pass(job) {
      child.stdin.write(`${job}\n`);
      const [seconds = NaN, kept = NaN] = (await line()).split(" ").map(Number);
      return { seconds, kept };
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => child.once("close", resolve));
      child.stdin.end();
      await closed;
    },
  };
}
