import { type FSWatcher, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Clock, explain } from "@evenkeel/runtime";
import type { GroupSink, TargetGroup } from "../target-group.ts";
import { readConfined } from "./confined-file.ts";
import type { FileBlock } from "./discovery-block.ts";
import { fileNamePattern } from "./file-name-pattern.ts";
import { jsonGroups, yamlGroups } from "./group-document.ts";
import { type FailedPart, type Reading, RefreshedSource } from "./refreshed-source.ts";
import type { Discovery } from "./start-discovery.ts";

const FILEPATH = "__meta_filepath";

export interface FileParts {
  readonly clock: Clock;
  /** The folder below which files may be read. */
  readonly files?: string | undefined;
}

/** Reads target groups from files: every `refresh_interval`, and when something in their folders changes. */
export class FileDiscovery implements Discovery {
  readonly #block: FileBlock;
  readonly #folder: string | undefined;
  readonly #source: RefreshedSource;
  readonly #watchers = new Map<string, FSWatcher>();

  constructor(block: FileBlock, sink: GroupSink, { clock, files }: FileParts) {
    this.#block = block;
    this.#folder = files;
    this.#source = new RefreshedSource({ interval: block.refreshInterval, read: () => this.#read(), sink, clock });
  }

  stop(): void {
    this.#source.stop();
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  async #read(): Promise<Reading> {
    for (const pattern of this.#block.files) this.#watch(dirname(pattern));
    const groups: TargetGroup[] = [];
    const failed: FailedPart[] = [];
    for (const path of await this.#paths()) {
      try {
        const text = await readConfined(path, this.#folder);
        groups.push(...(/\.json$/i.test(path) ? jsonGroups : yamlGroups)(text, path, FILEPATH));
      } catch (error) {
        failed.push({ owns: (source) => isGroupOf(source, path), message: `${path}: ${explain(error)}` });
      }
    }
    return { groups, failed };
  }

  /** The files that there are now. A file that is named without a pattern may be absent. */
  async #paths(): Promise<readonly string[]> {
    const found = await Promise.all(
      this.#block.files.map(async (pattern) => {
        const folder = dirname(pattern);
        const names = await readdir(folder).catch((error: unknown) => {
          if (isAbsent(error)) return [];
          throw error;
        });
        const isMatch = fileNamePattern(basename(pattern));
        return names
          .filter(isMatch)
          .sort()
          .map((name) => join(folder, name));
      }),
    );
    return [...new Set(found.flat())];
  }

  /** Where a folder cannot be watched, the refresh interval alone counts. */
  #watch(folder: string): void {
    if (this.#watchers.has(folder)) return;
    try {
      const watcher = watch(folder, () => this.#source.refresh());
      const forget = () => {
        watcher.close();
        this.#watchers.delete(folder);
      };
      watcher.on("error", forget);
      this.#watchers.set(folder, watcher);
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }
}

function isGroupOf(source: string, path: string): boolean {
  return source.startsWith(`${path}:`) && /^\d+(?:\/\d+)?$/.test(source.slice(path.length + 1));
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
