import { spawn } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ControlPlaneError, messageOf } from "./errors.ts";
import { goEnvironment, requireGo } from "./go-toolchain.ts";
import { withLock } from "./lock.ts";

const HEARTBEAT_MS = 15_000;

/** Number of Go's last output lines in an error. */
const ERROR_LINES = 20;

/** One program that must exist afterwards. */
export interface GoProgram {
  readonly name: string;
  /** Folder of the module that pins it. */
  readonly folder: string;
  readonly package: string;
  /** Arguments of `go build` before the output and the package. */
  readonly flags: readonly string[];
  readonly file: string;
}

/** A file that is derived from the built programs. */
export interface DerivedFile {
  readonly file: string;
  readonly write: () => Promise<void> | void;
}

export interface GoBuildOptions {
  /** Folder of the lock with which callers in several processes build each program once. */
  readonly cache: string;
  readonly derived?: readonly DerivedFile[];
  /** Called with progress messages, at least every 15 s during a build. */
  readonly progress?: (line: string) => void;
}

/** Builds the missing `programs`, one after the other. */
export async function buildGoPrograms(programs: readonly GoProgram[], options: GoBuildOptions): Promise<void> {
  const { cache, derived = [], progress = () => undefined } = options;
  const isMissing = ({ file }: { readonly file: string }): boolean => !existsSync(file);
  if (![...programs, ...derived].some(isMissing)) return;
  const lockOptions = { onWait: () => progress("waiting for another process that builds the binaries") };
  await withLock(
    join(cache, "build.lock"),
    async () => {
      const missing = programs.filter(isMissing);
      for (const [index, program] of missing.entries()) {
        mkdirSync(dirname(program.file), { recursive: true });
        await requireGo(program.folder);
        const label = `[${index + 1}/${missing.length}] ${program.name}`;
        await buildOne(program, (line) => progress(`${label}: ${line}`));
      }
      for (const { write } of derived.filter(isMissing)) await write();
    },
    lockOptions,
  );
}

/** Builds under a temporary name and renames, so that a file with the final name is always complete. */
async function buildOne(program: GoProgram, progress: (line: string) => void): Promise<void> {
  const { name, folder, package: path, flags, file } = program;
  const temporary = `${file}.building-${process.pid}`;
  const started = performance.now();
  const seconds = (): number => Math.round((performance.now() - started) / 1000);
  progress("building");
  const heartbeat = setInterval(() => progress(`still building, ${seconds()} s`), HEARTBEAT_MS);
  try {
    await runGo(["build", ...flags, "-o", temporary, path], folder);
    renameSync(temporary, file);
    progress(`built in ${seconds()} s`);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new ControlPlaneError("EK_CLUSTER_BUILD_FAILED", `${name} (${path}) was not built: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    clearInterval(heartbeat);
  }
}

async function runGo(args: string[], cwd: string): Promise<void> {
  const child = spawn("go", args, { cwd, env: goEnvironment(), stdio: ["ignore", "ignore", "pipe"] });
  let lines: string[] = [];
  let rest = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    lines = [...lines, ...parts].slice(-ERROR_LINES);
  });
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  child.on("error", reject).on("close", (code, signal) => {
    if (code === 0) resolve(undefined);
    else
      reject(
        new Error(`go ended with ${signal ?? `code ${code ?? "unknown"}`}:\n${[...lines, rest].join("\n").trim()}`),
      );
  });
  await promise;
}
