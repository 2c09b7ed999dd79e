/** One turn, as the dashboard draws it. */
export interface HistoryPoint {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly metric: number | null;
  readonly target: number;
  readonly desired: number | null;
  readonly actual: number | null;
  readonly share: number | null;
}

const COLUMNS = 6;

/** The last turns of one Rebalance, packed: some 11 KB for 240 of them, however long it runs. */
export class History {
  readonly #cells: Float64Array;
  readonly #capacity: number;
  #count = 0;

  constructor(capacity = 240) {
    this.#capacity = capacity;
    this.#cells = new Float64Array(capacity * COLUMNS);
  }

  add({ at, metric, target, desired, actual, share }: HistoryPoint): void {
    const row = (this.#count++ % this.#capacity) * COLUMNS;
    this.#cells.set([at, metric ?? NaN, target, desired ?? NaN, actual ?? NaN, share ?? NaN], row);
  }

  /** The oldest first. */
  points(): HistoryPoint[] {
    const size = Math.min(this.#count, this.#capacity);
    return Array.from({ length: size }, (_empty, index) => this.#point((this.#count - size + index) % this.#capacity));
  }

  #point(row: number): HistoryPoint {
    const cell = (column: number) => this.#cells[row * COLUMNS + column] ?? NaN;
    const known = (column: number) => (Number.isNaN(cell(column)) ? null : cell(column));
    return { at: cell(0), metric: known(1), target: cell(2), desired: known(3), actual: known(4), share: known(5) };
  }
}
