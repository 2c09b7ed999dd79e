import { readFileSync } from "node:fs";

/** Of /proc/<pid>/stat: ticks are hundredths of a second on every Linux that Node runs on. */
const TICKS_A_SECOND = 100;

/** Seconds of CPU, user and system, that a process has used on all its threads. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the program, the second field, is in brackets and may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

/** Bytes of a process's memory that are in RAM. */
export function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}
