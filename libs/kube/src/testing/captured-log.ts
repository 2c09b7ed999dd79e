import { createLogger, type Logger } from "@evenkeel/runtime";

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly error?: { readonly code?: string; readonly message: string };
  readonly [field: string]: unknown;
}

/** A real logger whose lines a test can read. */
export function captureLog(): { readonly log: Logger; readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line) as LogLine) };
  return { log: createLogger({ service: "test", level: "debug", secrets: [], destination }), lines };
}
