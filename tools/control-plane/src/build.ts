import { join } from "node:path";
import type { Folders } from "./folders.ts";
import { buildGoPrograms, type GoProgram } from "./go-programs.ts";
import { writeKwokStages } from "./kwok-stages.ts";
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

export interface BuildOptions {
  readonly folders: Folders;
  /** Called with progress messages, at least every 15 s during a build. */
  readonly progress?: (line: string) => void;
}

/**
 * Builds the pinned programs that are missing in the cache. The first build on a machine takes about ten minutes; a
 * later call only checks the files. Callers in several processes build each program once.
 */
export async function buildBinaries(
  options: BuildOptions & { readonly binaries?: readonly Binary[] },
): Promise<Toolset> {
  const { binaries = CLUSTER_BINARIES, folders, ...rest } = options;
  const pins = readPins();
  const toolset = toolsetIn(join(folders.cache, versionKey(pins, PLATFORM)));
  const wanted = binaries.map((binary) => programOf(binary, pins[SOURCES[binary].module], toolset.path(binary)));
  const stages = { file: toolset.stages, write: () => writeKwokStages(toolset.stages) };
  const derived = binaries.includes("kwok") ? [stages] : [];
  await buildGoPrograms(wanted, { ...rest, cache: folders.cache, derived });
  return toolset;
}

/** The same for the programs of a real node, which takes another ten minutes the first time. */
export async function buildNodeBinaries({ folders, ...rest }: BuildOptions): Promise<NodeToolset> {
  const pins = readNodePins();
  const toolset = nodeToolsetIn(join(folders.cache, nodeVersionKey(pins, PLATFORM)));
  const wanted = NODE_BINARIES.map((binary) => programOf(binary, pins[SOURCES[binary].module], toolset.path(binary)));
  await buildGoPrograms(wanted, { ...rest, cache: folders.cache, derived: nodeImages(toolset) });
  return toolset;
}

function programOf(binary: Binary | NodeBinary, { goMod }: PinFiles, file: string): GoProgram {
  const { module, package: path } = SOURCES[binary];
  return { name: binary, folder: goFolder(module), package: path, flags: buildFlags(binary, goMod), file };
}
