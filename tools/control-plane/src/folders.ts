import { homedir } from "node:os";
import { join } from "node:path";

/** Where the tool keeps its files. Clones of the repository share both folders. */
export interface Folders {
  /** What can be made again: one folder of binaries for each set of pins. */
  readonly cache: string;
  /** What describes running processes: records, keys, logs. Losing it means losing track of them. */
  readonly state: string;
}

/** The folders of the XDG base directory specification; a relative value is ignored, as it asks. */
export function foldersFrom(environment: NodeJS.ProcessEnv, home: string = homedir()): Folders {
  const base = (value: string | undefined, fallback: string): string =>
    join(value?.startsWith("/") === true ? value : join(home, fallback), "evenkeel", "control-plane");
  return {
    cache: base(environment["XDG_CACHE_HOME"], ".cache"),
    state: base(environment["XDG_STATE_HOME"], ".local/state"),
  };
}

export function runsFolder(folders: Folders): string {
  return join(folders.state, "runs");
}
