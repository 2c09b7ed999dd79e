import { readFileSync } from "node:fs";

/** Milliseconds for which this process has had work and no core to do it: what others on the machine took. */
export function starved(): number {
  const [, nanoseconds] = readFileSync("/proc/self/schedstat", "utf8").split(" ");
  return Number(nanoseconds) / 1e6;
}
