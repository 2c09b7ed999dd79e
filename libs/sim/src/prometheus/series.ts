export type Labels = Readonly<Record<string, string>>;

/** A series as a function of time. */
export interface Series {
  /** Its labels, `__name__` among them. */
  readonly metric: Labels;
  /** What a scrape at that time finds, in seconds since the epoch; undefined if it finds nothing. */
  readonly value: (seconds: number) => number | undefined;
}

export interface Sample {
  readonly metric: Labels;
  readonly value: number;
}

/** How long a sample is returned after it was taken, in seconds. */
const LOOKBACK = 300;

/**
 * The latest sample at a time, if it is not stale: at most five minutes old, the end included as in Prometheus 2.
 * Samples are taken at the whole multiples of `interval`, all in seconds.
 */
export function sampleAt(series: Series, seconds: number, interval: number): number | undefined {
  const last = Math.floor(seconds / interval);
  for (let count = last; count * interval >= seconds - LOOKBACK; count -= 1) {
    const value = series.value(count * interval);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The same labels in the order in which Prometheus writes them. */
export function sortedLabels(metric: Labels): Labels {
  return Object.fromEntries(Object.entries(metric).sort(([a], [b]) => (a < b ? -1 : 1)));
}
