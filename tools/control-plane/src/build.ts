import { spawn } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ControlPlaneError, messageOf } from "./errors.ts";
import type { Folders } from "./folders.ts";
import { goEnvironment, requireGo } from "./go-toolchain.ts";
import { writeKwokStages } from "./kwok-stages.ts";
import { withLock } from "./lock.ts";
import { nodeImages } from "./node/node-images.ts";
import {
  type Binary,
  buildFlags,
  CLUSTER_BINARIES,
  goFolder,
  NODE_BINARIES,
  type NodeBinary,
  nodeVersionKey,
  type PinFiles,
  readNodePins,
  readPins,
  SOURCES,
  versionKey,
} from "./pins.ts";
import { nodeToolsetIn, type NodeToolset, toolsetIn, type Toolset } from "./toolset.ts";

const PLATFORM = `${process.platform}-${process.arch}`;

const HEARTBEAT_MS = 15_000;

/** How many of Go's last lines an error repeats. */
const ERROR_LINES = 20;

export interface BuildOptions {
  readonly folders: Folders;
  /** Gets a line whenever there is something to say, at least every 15 s while a program is being built. */
  readonly progress?: (line: string) => void;
}

/**
 * Makes sure that the pinned programs exist in the cache, building those that are missing. The first build on a machine takes
 * ten minutes or so; a later call looks at the files and returns. Callers in several processes build each program once.
 */
export async function buildBinaries(
  options: BuildOptions & { readonly binaries?: readonly Binary[] },
): Promise<Toolset> {
  const { binaries = CLUSTER_BINARIES } = options;
  const pins = readPins();
  const toolset = toolsetIn(join(options.folders.cache, versionKey(pins, PLATFORM)));
  const wanted = binaries.map((binary) => programOf(binary, pins[SOURCES[binary].module], toolset.path(binary)));
  const stages = { file: toolset.stages, write: () => writeKwokStages(toolset.stages) };
  await buildMissing(wanted, binaries.includes("kwok") ? [stages] : [], options);
  return toolset;
}

/** The same for the programs of a real node, which takes another ten minutes the first time. */
export async function buildNodeBinaries(options: BuildOptions): Promise<NodeToolset> {
  const pins = readNodePins();
  const toolset = nodeToolsetIn(join(options.folders.cache, nodeVersionKey(pins, PLATFORM)));
  const wanted = NODE_BINARIES.map((binary) => programOf(binary, pins[SOURCES[binary].module], toolset.path(binary)));
  await buildMissing(wanted, nodeImages(toolset), options);
  return toolset;
}

/** One program that must exist afterwards. */
interface Program {
  readonly binary: Binary | NodeBinary;
  readonly goMod: string;
  readonly flags: string[];
  readonly file: string;
}

/** A file that is made from what was built. */
export interface DerivedFile {
  readonly file: string;
  readonly write: () => Promise<void> | void;
}

function programOf(binary: Binary | NodeBinary, { goMod }: PinFiles, file: string): Program {
  return { binary, goMod, flags: buildFlags(binary, goMod), file };
}

async function buildMissing(
  programs: readonly Program[],
  derived: readonly DerivedFile[],
  { folders, progress = () => undefined }: BuildOptions,
): Promise<void> {
  const isMissing = ({ file }: { readonly file: string }): boolean => !existsSync(file);
  if (![...programs, ...derived].some(isMissing)) return;
  const lockOptions = { onWait: () => progress("waiting for another process that builds the binaries") };
  await withLock(
    join(folders.cache, "build.lock"),
    async () => {
      const missing = programs.filter(isMissing);
      for (const [index, program] of missing.entries()) {
        mkdirSync(dirname(program.file), { recursive: true });
        await requireGo(goFolder(SOURCES[program.binary].module), program.goMod);
        const label = `[${index + 1}/${missing.length}] ${program.binary}`;
        await buildOne(program, (line) => progress(`${label}: ${line}`));
      }
      for (const { write } of derived.filter(isMissing)) await write();
    },
    lockOptions,
  );
}

/** Builds under another name and renames, so that a file with the right name is always whole. */
async function buildOne({ binary, flags, file }: Program, progress: (line: string) => void): Promise<void> {
  const { module, package: path } = SOURCES[binary];
  const temporary = `${file}.building-${process.pid}`;
  const started = performance.now();
  const seconds = (): number => Math.round((performance.now() - started) / 1000);
  progress("building");
  const heartbeat = setInterval(() => progress(`still building, ${seconds()} s`), HEARTBEAT_MS);
  try {
    await runGo(["build", ...flags, "-o", temporary, path], goFolder(module));
    renameSync(temporary, file);
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
