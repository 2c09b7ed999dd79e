import { pino } from "pino";
import type { Logger as PinoLogger } from "pino";
import { chainOf, CodedError, explain, isError } from "./error.ts";
import { scrub } from "./scrub.ts";

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
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: serializeError },
      hooks: { streamWrite: (line) => scrub(line, secrets) },
    },
    { write: (line: string) => void destination.write(line) },
  );
}

/** An error as a log line holds it: what to look up, what happened, and where. */
function serializeError(thrown: unknown): Record<string, unknown> {
  const code = thrown instanceof CodedError ? { code: thrown.code } : {};
  const stack = surprise(thrown)?.stack;
  return { ...code, message: explain(thrown), ...(stack === undefined ? {} : { stack }) };
}

/** The first error in the chain without a code. Coded errors are expected and explained; only a surprise needs its stack. */
function surprise(thrown: unknown): Error | undefined {
  const first = chainOf(thrown).find((error) => !(error instanceof CodedError));
  return isError(first) ? first : undefined;
}
