import { spawn } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ControlPlaneError, messageOf } from "./errors.ts";
import type { Folders } from "./folders.ts";
import { goEnvironment, requireGo } from "./go-toolchain.ts";
import { writeKwokStages } from "./kwok-stages.ts";
import { withLock } from "./lock.ts";
import { type Binary, buildFlags, CLUSTER_BINARIES, goFolder, readPins, SOURCES, versionKey } from "./pins.ts";
import { toolsetIn, type Toolset } from "./toolset.ts";

const HEARTBEAT_MS = 15_000;

/** How many of Go's last lines an error repeats. */
const ERROR_LINES = 20;

export interface BuildOptions {
  /** What must exist afterwards. */
  readonly binaries?: readonly Binary[];
  readonly folders: Folders;
  /** Gets a line whenever there is something to say, at least every 15 s while a program is being built. */
  readonly progress?: (line: string) => void;
}

/**
 * Makes sure that the pinned programs exist in the cache, building those that are missing. The first build on a machine takes
 * ten minutes or so; a later call looks at the files and returns. Callers in several processes build each program once.
 */
export async function buildBinaries(options: BuildOptions): Promise<Toolset> {
  const { folders, binaries = CLUSTER_BINARIES, progress = () => undefined } = options;
  const pins = readPins();
  const folder = join(folders.cache, versionKey(pins, `${process.platform}-${process.arch}`));
  const toolset = toolsetIn(folder);
  const missing = (): Binary[] => binaries.filter((binary) => !existsSync(toolset.path(binary)));
  const needsStages = (): boolean => binaries.includes("kwok") && !existsSync(toolset.stages);
  if (missing().length === 0 && !needsStages()) return toolset;

  const lockOptions = { onWait: () => progress("waiting for another process that builds the binaries") };
  await withLock(join(folders.cache, "build.lock"), build, lockOptions);
  return toolset;

  async function build(): Promise<void> {
    mkdirSync(toolset.bin, { recursive: true });
    const wanted = missing();
    for (const [index, binary] of wanted.entries()) {
      const { module } = SOURCES[binary];
      await requireGo(goFolder(module), pins[module].goMod);
      const label = `[${index + 1}/${wanted.length}] ${binary}`;
      await buildOne(binary, buildFlags(binary, pins), toolset.path(binary), (line) => progress(`${label}: ${line}`));
    }
    if (needsStages()) await writeKwokStages(toolset.stages);
  }
}

/** Builds under another name and renames, so that a file with the right name is always whole. */
async function buildOne(
  binary: Binary,
  flags: string[],
  target: string,
  progress: (line: string) => void,
): Promise<void> {
  const { module, package: path } = SOURCES[binary];
  const temporary = `${target}.building-${process.pid}`;
  const started = performance.now();
  const seconds = (): number => Math.round((performance.now() - started) / 1000);
  progress("building");
  const heartbeat = setInterval(() => progress(`still building, ${seconds()} s`), HEARTBEAT_MS);
  try {
    await runGo(["build", ...flags, "-o", temporary, path], goFolder(module));
    renameSync(temporary, target);
    progress(`built in ${seconds()} s`);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new ControlPlaneError("EK_CLUSTER_BUILD_FAILED", `${binary} (${path}) was not built: ${messageOf(error)}`, {
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
