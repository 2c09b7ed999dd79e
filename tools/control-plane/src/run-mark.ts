import { readdirSync, readFileSync } from "node:fs";
import { identify, type ProcessIdentity } from "./process-identity.ts";

/** Environment variable of every component with the id of its run. */
const VARIABLE = "EVENKEEL_CONTROL_PLANE_RUN";

export function runMark(id: string): NodeJS.ProcessEnv {
  return { [VARIABLE]: id };
}

/**
 * Processes with the mark of a run. It also finds a process without a record, because its owner was killed between
 * starting and recording it.
 */
export function findMarked(id: string): ProcessIdentity[] {
  const mark = `${VARIABLE}=${id}`;
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => environmentOf(pid).includes(mark))
    .flatMap((pid) => identify(pid) ?? []);
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}
