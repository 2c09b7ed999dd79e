import { homedir } from "node:os";
import { join } from "node:path";

/** The folders of the tool's files. Clones of the repository share both. */
export interface Folders {
  /** Files that can be created again: one folder of binaries for each set of pins. */
  readonly cache: string;
  /** Files about running processes: records, keys, logs. */
  readonly state: string;
}

/** The folders of the XDG base directory specification. A relative value is ignored, as specified. */
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
