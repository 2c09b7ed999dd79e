import { type PrometheusClient, type ServerAddress, unfitMessage } from "@evenkeel/prometheus";
import type { Clock } from "@evenkeel/runtime";
import { smooth, type Smoothed } from "@evenkeel/scoring";
import { ASSUMED_SERIES, DEFAULT_PER_SCRAPE, loadOf, SeriesMeans } from "../decide/load.ts";
import type { Weighed } from "../decide/snapshot-of.ts";
import type { Target } from "./target.ts";

/** Where the series of targets are counted, and what a scrape costs: `spec.load` of an object. */
export interface LoadSettings {
  /** Null: series are known from annotations alone. */
  readonly address: ServerAddress | null;
  readonly perScrape?: number;
}

export interface LoadsOptions {
  readonly client: Pick<PrometheusClient, "query">;
  readonly clock: Clock;
}

/**
 * A target that two collectors scrape during a hand-over has two such series. Prometheus gives each target's series the
 * labels `job` and `instance` that the target has after relabelling. A scrape that fails has the value 0.
 */
const QUERY = "max by (job, instance) (scrape_samples_post_metric_relabeling) > 0";
/** Bytes of an answer at most; 100,000 targets have about 12 MB. */
const LIMIT = 32 * 2 ** 20;
const TIMEOUT = 20_000;
/** Milliseconds between two questions. */
const PERIOD = 60_000;
/** Milliseconds after the last answer from which its counts are stale. They stay in force. */
const STALE_AFTER = 300_000;
/**
 * Milliseconds in which the mean of a job follows a new level: a target without a count must not move with each scrape.
 */
const TIME_CONSTANT = 900_000;
/** An annotation counts for at most so many times the largest count: anyone who may annotate a pod may exaggerate. */
const MOST_EXPECTED = 10;

/**
 * What the targets of one CollectorLoadBalancer cost. What is not counted is taken from the job's mean, never as zero.
 */
export class Loads {
  readonly #options: LoadsOptions;
  #counts: ReadonlyMap<string, number> | undefined;
  /** Names of the targets that were weighed last. */
  #weighed: ReadonlySet<string> = new Set();
  #askedAt = -Infinity;
  #answeredAt = -Infinity;
  #fault: string | null = null;
  readonly #means = new Map<string, Smoothed>();
  readonly #stopping = new AbortController();

  constructor(options: LoadsOptions) {
    this.#options = options;
  }

  /** Why the series were not counted the last time; null if they were. The last counts stay in force. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Why the counts in force are stale; null if they are not, or if nothing was counted yet. */
  get stale(): string | null {
    const isOld = this.#options.clock.monotonic() - this.#answeredAt >= STALE_AFTER;
    return isOld && this.#counts !== undefined ? this.#fault : null;
  }

  /** Counts the series of all targets, unless that was done within the last minute. Never rejects. */
  async refresh({ address }: LoadSettings): Promise<void> {
    const { client, clock } = this.#options;
    if (address === null) {
      [this.#counts, this.#fault, this.#askedAt] = [undefined, null, -Infinity];
      return;
    }
    if (clock.monotonic() - this.#askedAt < PERIOD) return;
    this.#askedAt = clock.monotonic();
    const query = {
      address,
      query: QUERY,
      timeout: TIMEOUT,
      signal: this.#stopping.signal,
      limit: LIMIT,
      labelled: true,
    };
    const outcome = await client.query(query);
    if (outcome.kind !== "samples") {
      this.#fault = outcome.kind === "failed" ? outcome.message : unfitMessage(outcome.resultType);
      return;
    }
    const counts = new Map<string, number>();
    for (const { value, labels = {} } of outcome.samples) {
      const count = Number(value);
      if (Number.isFinite(count) && count > 0) counts.set(nameOf(labels["job"], labels["instance"]), count);
    }
    this.#fault = counts.size === 0 ? "Prometheus has no series scrape_samples_post_metric_relabeling above 0" : null;
    if (counts.size === 0) return;
    // A target that the answer leaves out keeps its former count for as long as it is a target.
    for (const [name, count] of this.#counts ?? [])
      if (this.#weighed.has(name) && !counts.has(name)) counts.set(name, count);
    this.#counts = counts;
    this.#answeredAt = clock.monotonic();
  }

  /** Ends a question that is under way. */
  stop(): void {
    this.#stopping.abort();
  }

  /**
   * Why loads are not known, so that nothing may be levelled by them; null if they are. Once they were counted they are
   * known: the last counts are nearer to the truth than none.
   */
  unknown({ address }: LoadSettings): string | null {
    if (address === null || this.#counts !== undefined) return null;
    return this.#fault ?? "Prometheus has not answered yet";
  }

  /** The targets with their loads: series as counted, by the annotation, as the mean of the job, or of all. */
  weigh(targets: Iterable<Target>, { perScrape = DEFAULT_PER_SCRAPE }: LoadSettings): Weighed[] {
    const named = Array.from(targets, (target) => ({ target, name: nameOfTarget(target) }));
    this.#weighed = new Set(named.map(({ name }) => name));
    let largest = 0;
    for (const { name } of named) largest = Math.max(largest, this.#counts?.get(name) ?? 0);
    const most = largest === 0 ? Infinity : MOST_EXPECTED * largest;
    const counted = named.map(({ target, name }) => {
      const { job, interval, expectedSeries } = target;
      const expected = expectedSeries === undefined ? undefined : Math.min(expectedSeries, most);
      return { target, job, interval, series: this.#counts?.get(name) ?? expected };
    });
    const means = new SeriesMeans(counted);
    const now = this.#options.clock.now();
    for (const job of means.jobs) {
      const mean = smooth(this.#means.get(job), means.ofJob(job), now, TIME_CONSTANT);
      if (mean !== undefined) this.#means.set(job, mean);
    }
    return counted.map(({ target, job, interval, series }) => ({
      ...target,
      load: loadOf(series ?? this.#means.get(job)?.value ?? means.ofAll ?? ASSUMED_SERIES, interval, perScrape),
    }));
  }
}

function nameOfTarget({ labels, address }: Target): string {
  return nameOf(labels.get("job"), labels.get("instance") ?? address);
}

function nameOf(job = "", instance = ""): string {
  return `${job}\n${instance}`;
}
