/** How level the nodes were at one reconcile. `at` is in milliseconds since the epoch. */
export interface HistoryPoint {
  readonly at: number;
  readonly sigma: number;
  readonly predicted: number;
  readonly lowerBound: number;
  /** Pods that were evicted then. */
  readonly evicted: number;
}

/** Four hours at the default sync period. */
const KEPT = 480;

/** The last reconciles of one policy, as the dashboard draws them. */
export class History {
  #points: HistoryPoint[] = [];

  add(point: HistoryPoint): void {
    this.#points.push(point);
    // Cut rarely: each cut copies what is left.
    if (this.#points.length > 2 * KEPT) this.#points = this.#points.slice(-KEPT);
  }

  points(): readonly HistoryPoint[] {
    return this.#points.slice(-KEPT);
  }
}
