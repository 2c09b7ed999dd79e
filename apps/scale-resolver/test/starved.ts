import { readFileSync } from "node:fs";

/** Milliseconds for which this process was ready to run and had no CPU. */
export function starved(): number {
  const [, nanoseconds] = readFileSync("/proc/self/schedstat", "utf8").split(" ");
  return Number(nanoseconds) / 1e6;
}
