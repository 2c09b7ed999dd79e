import type { Clock } from "@evenkeel/runtime";
import type { Counts } from "@evenkeel/state";
import type { Activity } from "../decide/snapshot.ts";

/** What the resolvers have of a Service, and how many requests a second came to them over the last minute. */
export interface SharedActivity extends Activity {
  readonly requestRate: number;
}

/** What one replica has of one Service, as it tells the others. */
export interface Word {
  readonly replica: string;
  readonly key: string;
  readonly activity: SharedActivity;
}

export interface ReportsOptions {
  /** The reports of all replicas that are alive. */
  readonly read: () => Promise<ReadonlyMap<string, Counts>>;
  readonly clock: Clock;
}

type ByReplica = Map<string, Record<string, number>>;

const FIELDS = ["pending", "inFlight", "requests", "lastRequestAt", "requestRate"] as const;

/** What the replicas said last: their reports, and the words that came since. */
export class Reports {
  readonly #options: ReportsOptions;
  /** Words that came while a reading is under way, which may be older than they are. */
  readonly #meanwhile = new Set<Word[]>();
  #heard: { readonly since: number; readonly reports: ByReplica } | undefined;
  #reading: Promise<ByReplica> | undefined;

  constructor(options: ReportsOptions) {
    this.#options = options;
  }

  /** Milliseconds since they were read. */
  get age(): number {
    return this.#heard ? this.#options.clock.monotonic() - this.#heard.since : Infinity;
  }

  /** As they were heard last; nothing if that failed, or is more than so many milliseconds ago. */
  latest(within: number): ReadonlyMap<string, Counts> | undefined {
    return this.age <= within ? this.#heard?.reports : undefined;
  }

  /** Reads them, unless that is under way or they are no older than so many milliseconds; at 0 it always reads. */
  async read(within: number): Promise<ReadonlyMap<string, Counts>> {
    const latest = within > 0 ? (this.latest(within) ?? this.#reading) : undefined;
    if (latest) return latest;
    const reading = this.#read();
    this.#reading = reading;
    try {
      return await reading;
    } catch (error) {
      this.#heard = undefined;
      throw error;
    } finally {
      if (this.#reading === reading) this.#reading = undefined;
    }
  }

  hear(word: Word): void {
    for (const words of this.#meanwhile) words.push(word);
    if (this.#heard) add(this.#heard.reports, word);
  }

  async #read(): Promise<ByReplica> {
    const since = this.#options.clock.monotonic();
    const words: Word[] = [];
    this.#meanwhile.add(words);
    try {
      const read = await this.#options.read();
      const reports = new Map([...read].map(([replica, counts]) => [replica, { ...counts }]));
      for (const word of words) add(reports, word);
      this.#heard = { since, reports };
      return reports;
    } finally {
      this.#meanwhile.delete(words);
    }
  }
}

/**
 * A word may be older than the reports. One of a replica that has none is: it has left since. So is one with fewer requests. One with
 * as many has at least what is left of them: too much for a moment, never too little.
 */
function add(reports: ByReplica, { replica, key, activity }: Word): void {
  const counts = reports.get(replica);
  if (counts && activity.requests >= activityIn(counts, key).requests) Object.assign(counts, countsOf(key, activity));
}

/** An activity as part of a report. */
export function countsOf(key: string, activity: SharedActivity): Counts {
  return Object.fromEntries(FIELDS.map((field) => [`${field}:${key}`, activity[field] ?? 0]));
}

/** A Service that a report does not name had no request. */
export function activityIn(counts: Counts, key: string): SharedActivity {
  return activityOf((field) => counts[`${field}:${key}`] ?? 0);
}

export function wordText({ replica, key, activity }: Word): string {
  return [replica, key, ...FIELDS.map((field) => activity[field] ?? 0)].join(" ");
}

/** Nothing for a text that is no word. */
export function wordOf(text: string): Word | undefined {
  const [replica = "", key = "", ...texts] = text.split(" ");
  const numbers = texts.map(Number);
  if (numbers.length !== FIELDS.length || !numbers.every(Number.isFinite)) return undefined;
  return { replica, key, activity: activityOf((field) => numbers[FIELDS.indexOf(field)] ?? 0) };
}

export function added(one: SharedActivity, other: SharedActivity): SharedActivity {
  return activityOf((field) => {
    const [a, b] = [one[field] ?? 0, other[field] ?? 0];
    return field === "lastRequestAt" ? Math.max(a, b) : a + b;
  });
}

/** A time of 0 is none. */
function activityOf(value: (field: (typeof FIELDS)[number]) => number): SharedActivity {
  return {
    pending: value("pending"),
    inFlight: value("inFlight"),
    requests: value("requests"),
    lastRequestAt: value("lastRequestAt") || null,
    requestRate: value("requestRate"),
  };
}
