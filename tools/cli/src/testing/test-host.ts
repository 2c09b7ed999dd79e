import { EventEmitter } from "node:events";
import type { Host } from "@evenkeel/runtime";

/** A process that a test plays: it has a command line and takes signals, and remembers what was written. */
export class TestHost extends EventEmitter {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdout: { readonly isTTY: boolean; readonly columns: number; write(text: string): boolean };
  readonly stderr = { write: (text: string) => ((this.err += text), true) };
  out = "";
  err = "";

  constructor(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}, columns?: number) {
    super();
    this.argv = ["node", "kubectl-evenkeel", ...args];
    this.env = env;
    const write = (text: string) => ((this.out += text), true);
    this.stdout = { isTTY: columns !== undefined, columns: columns ?? 0, write };
  }

  get host(): Host {
    return this as unknown as Host;
  }
}
