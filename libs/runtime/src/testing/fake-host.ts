import { EventEmitter } from "node:events";
import type { Host } from "../host.ts";
import { createLogger, type Logger } from "../log.ts";

/** A line of the log, parsed. */
export type LogLine = Readonly<Record<string, unknown>>;

/**
 * A process that a test plays: it has a command line, takes signals, and remembers what was written and how it ended.
 */
export class FakeHost extends EventEmitter {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Every exit code, in order: a real process would have ended at the first. */
  readonly exits: number[] = [];
  out = "";
  err = "";
  readonly stdout = Object.assign(new EventEmitter(), { write: (text: string) => ((this.out += text), true) });
  readonly stderr = Object.assign(new EventEmitter(), { write: (text: string) => ((this.err += text), true) });

  constructor(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
    super();
    this.argv = ["node", "main.js", ...args];
    this.env = env;
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  get host(): Host {
    return this as unknown as Host;
  }

  /** A logger that writes to this process's stdout. */
  log(secrets: readonly string[] = [], level = "info"): Logger {
    return createLogger({ service: "sample", level, secrets, destination: this.stdout });
  }

  get lines(): readonly LogLine[] {
    return this.out
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as LogLine);
  }
}
