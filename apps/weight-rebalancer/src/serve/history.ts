/** One reconcile, as the dashboard draws it. */
export interface HistoryPoint {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly metric: number | null;
  readonly target: number;
  readonly desired: number | null;
  readonly actual: number | null;
  readonly share: number | null;
}

/** Values of a point, without its time. */
const COLUMNS = 5;

/**
 * The last reconciles of one Rebalance, packed: about 7 KB for 240 of them. Values are kept to seven digits, which is
 * more than a chart shows.
 */
export class History {
  readonly #times: Float64Array;
  readonly #cells: Float32Array;
  readonly #capacity: number;
  #count = 0;

  constructor(capacity = 240) {
    this.#capacity = capacity;
    this.#times = new Float64Array(capacity);
    this.#cells = new Float32Array(capacity * COLUMNS);
  }

  add({ at, metric, target, desired, actual, share }: HistoryPoint): void {
    const row = this.#count++ % this.#capacity;
    this.#times[row] = at;
    this.#cells.set([metric ?? NaN, target, desired ?? NaN, actual ?? NaN, share ?? NaN], row * COLUMNS);
  }

  /** The oldest first. */
  points(): HistoryPoint[] {
    const size = Math.min(this.#count, this.#capacity);
    return Array.from({ length: size }, (_empty, index) => this.#point((this.#count - size + index) % this.#capacity));
  }

  #point(row: number): HistoryPoint {
    const cell = (column: number) => this.#cells[row * COLUMNS + column] ?? NaN;
    const known = (column: number) => (Number.isNaN(cell(column)) ? null : cell(column));
    const at = this.#times[row] ?? NaN;
    return { at, metric: known(0), target: cell(1), desired: known(2), actual: known(3), share: known(4) };
  }
}
