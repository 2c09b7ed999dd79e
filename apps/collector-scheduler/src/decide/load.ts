/** What a target is known by when its series are counted. */
export interface Counted {
  readonly job: string;
  /** Seconds between two scrapes. */
  readonly interval: number;
  /** Series of one scrape; undefined if nobody has counted them. */
  readonly series: number | undefined;
}

/** Series that a target is taken to have while nobody has counted those of any target: then all are alike. */
export const ASSUMED_SERIES = 500;

/** Cost of one scrape, in samples. */
export const DEFAULT_PER_SCRAPE = 100;

/** Seconds between two scrapes where none are given, as Prometheus has it. */
const DEFAULT_INTERVAL = 60;

/** Samples per second that a target brings to its collector, and the fixed cost of its scrapes. */
export function loadOf(series: number, interval: number, perScrape: number): number {
  return (series + perScrape) / (interval > 0 ? interval : DEFAULT_INTERVAL);
}

/** Means of the series that are known, by job and of all. */
export class SeriesMeans {
  readonly #byJob = new Map<string, { sum: number; count: number }>();
  readonly #all = { sum: 0, count: 0 };

  constructor(targets: Iterable<Counted>) {
    for (const { job, series } of targets) {
      if (series === undefined) continue;
      const own = this.#byJob.get(job) ?? { sum: 0, count: 0 };
      this.#byJob.set(job, own);
      for (const mean of [own, this.#all]) {
        mean.sum += series;
        mean.count += 1;
      }
    }
  }

  get jobs(): Iterable<string> {
    return this.#byJob.keys();
  }

  ofJob(job: string): number | undefined {
    const own = this.#byJob.get(job);
    return own && own.sum / own.count;
  }

  get ofAll(): number | undefined {
    return this.#all.count === 0 ? undefined : this.#all.sum / this.#all.count;
  }
}
