import { readFileSync, readlinkSync } from "node:fs";

/** A process, distinguished from any later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks between the machine's boot and the start of the process. */
  readonly startTicks: number;
}

/** The scope in which a pid is valid. */
export interface Host {
  /** Changes at every boot of the machine. */
  readonly boot: string;
  /** Differs between containers, which may share a home folder but not their pids. */
  readonly pidNamespace: string;
}

export interface ProcessStat {
  /** One letter, as in ps: R, S, D, T, Z, X, … */
  readonly state: string;
  readonly threads: number;
  readonly startTicks: number;
}

/**
 * Parses a line of /proc/<pid>/stat (see proc_pid_stat(5)). The command's name is in parentheses and may itself contain
 * spaces and parentheses, so fields are counted from the last one.
 */
export function parseStat(line: string): ProcessStat | undefined {
  const fields = line
    .slice(line.lastIndexOf(")") + 1)
    .trim()
    .split(" ");
  const state = fields[0];
  const threads = Number(fields[17]);
  const startTicks = Number(fields[19]);
  const whole = state?.length === 1 && Number.isSafeInteger(threads) && Number.isSafeInteger(startTicks);
  return whole && startTicks > 0 ? { state, threads, startTicks } : undefined;
}

function statOf(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

/** The identity of the process with `pid` now; undefined if there is none. */
export function identify(pid: number): ProcessIdentity | undefined {
  const stat = statOf(pid);
  return stat === undefined ? undefined : { pid, startTicks: stat.startTicks };
}

/**
 * Whether this process still runs. A zombie has ended. But a process becomes a zombie when its first thread ends, and
 * keeps its ports until the last thread ends.
 */
export function isAlive(identity: ProcessIdentity): boolean {
  const stat = statOf(identity.pid);
  return stat !== undefined && stat.startTicks === identity.startTicks && !isOver(stat);
}

/** Whether a process has released all resources. */
export function isOver({ state, threads }: ProcessStat): boolean {
  return state === "X" || (state === "Z" && threads <= 1);
}

/** Resident memory of the process in bytes; undefined if it has ended. */
export function residentBytes(pid: number): number | undefined {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}

export function thisHost(): Host {
  return {
    boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
    pidNamespace: readlinkSync("/proc/self/ns/pid"),
  };
}

export function thisProcess(): ProcessIdentity {
  const identity = identify(process.pid);
  if (identity === undefined)
    throw new Error("/proc does not show this process; the control plane needs Linux with /proc");
  return identity;
}
