import type { Host } from "@evenkeel/runtime";
import { type Cell, type Column, harmless, type Paper, TableWriter, tableText } from "./table.ts";

/** The output: a terminal gets colours unless NO_COLOR is set, and lines that fit its width. */
export class Screen {
  readonly paper: Paper;
  readonly #host: Pick<Host, "stdout" | "stderr">;
  readonly #name: string;

  constructor(host: Pick<Host, "stdout" | "stderr" | "env">, name: string) {
    const { stdout, env } = host;
    const terminal = stdout.isTTY;
    this.#host = host;
    this.#name = name;
    // https://no-color.org: any value except an empty one.
    this.paper = {
      colour: terminal && !env["NO_COLOR"] && env["TERM"] !== "dumb",
      width: terminal ? stdout.columns : undefined,
    };
  }

  print(text: string): void {
    this.#host.stdout.write(text);
  }

  lines(...lines: readonly string[]): void {
    for (const line of lines) this.print(`${harmless(line) === "" ? "" : line.trimEnd()}\n`);
  }

  json(value: unknown): void {
    this.print(`${JSON.stringify(value, undefined, 2)}\n`);
  }

  table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void {
    this.print(tableText(columns, rows, this.paper));
  }

  writer(columns: readonly Column[]): TableWriter {
    return new TableWriter(columns, this.paper);
  }

  /** One line on standard error: an error or a hint. */
  note(line: string): void {
    this.#host.stderr.write(`${this.#name}: ${harmless(line)}\n`);
  }
}
