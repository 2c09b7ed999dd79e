import { pino } from "pino";
import type { Logger as PinoLogger } from "pino";
import { chainOf, CodedError, explain, isError } from "./error.ts";
import { scrubber } from "./scrub.ts";

/** JSON lines. A child carries `component`, and where it applies `object` and `decision`. */
export type Logger = PinoLogger;

export interface LogOptions {
  readonly service: string;
  readonly level: string;
  /** Values that must never be written, wherever they would appear. */
  readonly secrets: readonly string[];
  readonly destination: { write(line: string): unknown };
}

export function createLogger({ service, level, secrets, destination }: LogOptions): Logger {
  const scrub = scrubber(secrets);
  return pino(
    {
      level,
      base: { service },
      timestamp: isoTime(),
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: serializeError },
      hooks: { streamWrite: scrub },
    },
    { write: (line: string) => void destination.write(line) },
  );
}

/**
 * The time as pino's `isoTime` writes it. The text of a second is made once, because a busy service writes many lines
 * in it.
 */
function isoTime(): () => string {
  let second = NaN;
  let text = "";
  return () => {
    const now = Date.now();
    if (Math.floor(now / 1000) !== second) {
      second = Math.floor(now / 1000);
      text = `,"time":"${new Date(second * 1000).toISOString().slice(0, -4)}`;
    }
    return `${text}${String(now % 1000).padStart(3, "0")}Z"`;
  };
}

/** An error as a log line holds it: what to look up, what happened, and where. */
function serializeError(thrown: unknown): Record<string, unknown> {
  const code = thrown instanceof CodedError ? { code: thrown.code } : {};
  const stack = surprise(thrown)?.stack;
  return { ...code, message: explain(thrown), ...(stack === undefined ? {} : { stack }) };
}

/**
 * The first error in the chain without a code. Coded errors are expected and explained; only a surprise needs its
 * stack.
 */
function surprise(thrown: unknown): Error | undefined {
  const first = chainOf(thrown).find((error) => !(error instanceof CodedError));
  return isError(first) ? first : undefined;
}
