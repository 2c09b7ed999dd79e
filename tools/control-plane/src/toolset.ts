import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { ControlPlaneError } from "./errors.ts";
import { type Binary, CLUSTER_BINARIES, type NodeBinary } from "./pins.ts";

/** A folder of built programs. */
export interface Toolset {
  /** Folder of the programs, for the PATH. */
  readonly bin: string;
  /** KWOK's configuration for nodes and pods. */
  readonly stages: string;
  path(binary: Binary): string;
}

/** The programs of a real node, and archives of the images that it requires. */
export interface NodeToolset {
  readonly bin: string;
  readonly images: { readonly pause: string; readonly coredns: string };
  path(binary: NodeBinary): string;
}

export function toolsetIn(folder: string): Toolset {
  const bin = join(folder, "bin");
  return { bin, stages: join(folder, "kwok-stages.yaml"), path: (binary) => join(bin, binary) };
}

export function nodeToolsetIn(folder: string): NodeToolset {
  const bin = join(folder, "bin");
  const images = { pause: join(folder, "pause.tar"), coredns: join(folder, "coredns.tar") };
  return { bin, images, path: (binary) => join(bin, binary) };
}

/** Throws unless everything that a cluster needs exists. */
export function requireWhole(toolset: Toolset): void {
  const needed: [path: string, mode: number][] = CLUSTER_BINARIES.map((binary) => [
    toolset.path(binary),
    constants.X_OK,
  ]);
  needed.push([toolset.stages, constants.R_OK]);
  for (const [path, mode] of needed) {
    try {
      accessSync(path, mode);
    } catch (error) {
      throw new ControlPlaneError(
        "EK_CLUSTER_BINARY_MISSING",
        `${path} is missing or not executable; build it with \`make control-plane\``,
        { cause: error },
      );
    }
  }
}
