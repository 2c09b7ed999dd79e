export type Tone = "good" | "warning" | "bad" | "quiet";

/** A cell: a text, or one that stands out on a terminal. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

export interface Column {
  readonly title: string;
  /** Right-aligned, for numbers. */
  readonly right?: boolean;
  /** Minimum characters, for tables with rows that arrive one at a time. */
  readonly least?: number;
}

export interface Paper {
  /** Maximum characters of a line; the last column is cut. Absent: no maximum. */
  readonly width?: number | undefined;
  readonly colour: boolean;
}

const GAP = "   ";
const SHORTEST = 16;

const colours: Readonly<Record<Tone, string>> = { good: "32", warning: "33", bad: "31", quiet: "2" };

/**
 * Rows below their titles, each column as wide as its widest cell. An empty cell is a dash, so that columns can be
 * counted.
 */
export function tableText(columns: readonly Column[], rows: readonly (readonly Cell[])[], paper: Paper): string {
  return new TableWriter(columns, paper).rows(rows);
}

/** A table that is written row by row: columns grow when necessary, and never shrink. */
export class TableWriter {
  readonly #columns: readonly Column[];
  readonly #paper: Paper;
  readonly #widths: number[];
  #titled = false;

  constructor(columns: readonly Column[], paper: Paper) {
    this.#columns = columns;
    this.#paper = paper;
    this.#widths = columns.map(({ title, least = 0 }) => Math.max(title.length, least));
  }

  /** The text of further rows, with the titles before the first ones. */
  rows(rows: readonly (readonly Cell[])[]): string {
    for (const row of rows) {
      for (const [index, cell] of row.entries()) {
        this.#widths[index] = Math.max(this.#widths[index] ?? 0, lengthOf(plain(cell)));
      }
    }
    const titles = this.#titled ? [] : [this.#columns.map(({ title }): Cell => ({ text: title, tone: "quiet" }))];
    this.#titled = true;
    return [...titles, ...rows].map((row) => `${this.#line(row)}\n`).join("");
  }

  #line(row: readonly Cell[]): string {
    const last = this.#columns.length - 1;
    let taken = 0;
    return this.#columns
      .map(({ right = false }, index) => {
        const cell = row[index] ?? "";
        const width = this.#widths[index] ?? 0;
        const text = index === last ? this.#fitted(plain(cell), taken) : plain(cell);
        const space = " ".repeat(Math.max(0, width - lengthOf(text)));
        taken += width + GAP.length;
        const shown = this.#coloured(cell, text);
        if (right) return space + shown;
        return index === last ? shown : shown + space;
      })
      .join(GAP)
      .trimEnd();
  }

  #fitted(text: string, taken: number): string {
    const { width } = this.#paper;
    const room = width === undefined ? Infinity : Math.max(SHORTEST, width - taken);
    return lengthOf(text) <= room
      ? text
      : `${Array.from(text)
          .slice(0, room - 1)
          .join("")}…`;
  }

  #coloured(cell: Cell, text: string): string {
    if (typeof cell === "string") return text;
    return coloured(text, cell.tone, this.#paper);
  }
}

export function coloured(text: string, tone: Tone, { colour }: Paper): string {
  return colour ? `\u001b[${colours[tone]}m${text}\u001b[0m` : text;
}

/** One line without control characters, because a service may forward text of any user. */
export function harmless(text: string): string {
  // eslint-disable-next-line no-control-regex -- they are what must not reach a terminal
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
}

function plain(cell: Cell): string {
  return harmless(typeof cell === "string" ? cell : cell.text) || "-";
}

/** In code points, which are the visible characters of nearly all shown text. */
function lengthOf(text: string): number {
  return Array.from(text).length;
}
