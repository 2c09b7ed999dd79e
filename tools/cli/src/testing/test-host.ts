import { EventEmitter } from "node:events";
import { Readable } from "node:stream";
import type { Host } from "@evenkeel/runtime";

/** A process for tests: it has a command line, receives signals, and records its output. */
export class TestHost extends EventEmitter {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdout: { readonly isTTY: boolean; readonly columns: number; write(text: string): boolean };
  readonly stderr = { write: (text: string) => ((this.err += text), true) };
  readonly stdin: Readable;
  out = "";
  err = "";

  constructor(
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
    columns?: number,
    stdin: Readable = Readable.from([]),
  ) {
    super();
    this.argv = ["node", "kubectl-evenkeel", ...args];
    this.env = env;
    this.stdin = stdin;
    const write = (text: string) => ((this.out += text), true);
    this.stdout = { isTTY: columns !== undefined, columns: columns ?? 0, write };
  }

  get host(): Host & Pick<NodeJS.Process, "stdin"> {
    return this as unknown as Host & Pick<NodeJS.Process, "stdin">;
  }
}
