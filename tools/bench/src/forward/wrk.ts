import { execFile } from "node:child_process";
import { promisify } from "node:util";

const CONNECTIONS = 64;

/** One run of wrk. Times are milliseconds. */
export interface Load {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/** Loads `url` for some seconds with one thread. An answer that is not 2xx, or a broken connection, spoils the run. */
export async function load(url: string, seconds: number, headers: readonly string[] = []): Promise<Load> {
  const more = headers.flatMap((header) => ["-H", header]);
  const args = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}s`, "--timeout", "10s", "--latency", ...more, url];
  return readWrk((await promisify(execFile)("wrk", args)).stdout);
}

export function readWrk(report: string): Load {
  const fault = /^\s*(Socket errors|Non-2xx).*$/m.exec(report);
  if (fault) throw new Error(`wrk: ${fault[0].trim()}`);
  return {
    requests: found(report, /^\s*(\d+) requests in/m, Number),
    perSecond: found(report, /^Requests\/sec:\s+([\d.]+)$/m, Number),
    p50: found(report, /^\s*50%\s+(\S+)\s*$/m, milliseconds),
    p99: found(report, /^\s*99%\s+(\S+)\s*$/m, milliseconds),
  };
}

function found(report: string, pattern: RegExp, read: (text: string) => number): number {
  const [, text] = pattern.exec(report) ?? [];
  const value = text === undefined ? NaN : read(text);
  if (!Number.isFinite(value)) throw new Error(`wrk's report has no ${String(pattern)}:\n${report}`);
  return value;
}

const UNITS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 };

function milliseconds(text: string): number {
  const [, amount, unit = ""] = /^([\d.]+)(us|ms|s|m)$/.exec(text) ?? [];
  return Number(amount) * (UNITS[unit] ?? NaN);
}
