import type { Clock } from "@evenkeel/runtime";
import type { Counts } from "@evenkeel/state";
import type { Activity } from "../decide/snapshot.ts";

/** The activity of a Service at the resolvers, with the requests per second over the last minute. */
export interface SharedActivity extends Activity {
  readonly requestRate: number;
}

/** A message to the other replicas with one replica's activity of one Service. */
export interface ActivityMessage {
  readonly replica: string;
  readonly key: string;
  readonly activity: SharedActivity;
}

export interface ReportsOptions {
  /** Reads the reports of all live replicas. */
  readonly read: () => Promise<ReadonlyMap<string, Counts>>;
  readonly clock: Clock;
}

type ByReplica = Map<string, Record<string, number>>;

const FIELDS = ["pending", "inFlight", "requests", "lastRequestAt", "requestRate"] as const;

/** The last reports of the replicas, with the messages since then. */
export class Reports {
  readonly #options: ReportsOptions;
  /** Messages that arrive during a read. The result of the read may be older than they are. */
  readonly #meanwhile = new Set<ActivityMessage[]>();
  #latest: { readonly since: number; readonly reports: ByReplica } | undefined;
  #reading: Promise<ByReplica> | undefined;

  constructor(options: ReportsOptions) {
    this.#options = options;
  }

  /** Milliseconds since the last read. */
  get age(): number {
    return this.#latest ? this.#options.clock.monotonic() - this.#latest.since : Infinity;
  }

  /** The last reports; undefined if the read failed or is older than `within` milliseconds. */
  latest(within: number): ReadonlyMap<string, Counts> | undefined {
    return this.age <= within ? this.#latest?.reports : undefined;
  }

  /**
   * Reads the reports, unless a read is in progress or the last is not older than `within` milliseconds. With 0, it
   * always reads.
   */
  async read(within: number): Promise<ReadonlyMap<string, Counts>> {
    const latest = within > 0 ? (this.latest(within) ?? this.#reading) : undefined;
    if (latest) return latest;
    const reading = this.#read();
    this.#reading = reading;
    try {
      return await reading;
    } catch (error) {
      this.#latest = undefined;
      throw error;
    } finally {
      if (this.#reading === reading) this.#reading = undefined;
    }
  }

  receive(message: ActivityMessage): void {
    for (const messages of this.#meanwhile) messages.push(message);
    if (this.#latest) add(this.#latest.reports, message);
  }

  async #read(): Promise<ByReplica> {
    const since = this.#options.clock.monotonic();
    const messages: ActivityMessage[] = [];
    this.#meanwhile.add(messages);
    try {
      const read = await this.#options.read();
      const reports = new Map([...read].map(([replica, counts]) => [replica, { ...counts }]));
      for (const message of messages) add(reports, message);
      this.#latest = { since, reports };
      return reports;
    } finally {
      this.#meanwhile.delete(messages);
    }
  }
}

/**
 * A message may be older than the reports. It is if the replica has no report, because the replica has stopped, or if
 * it has fewer requests. With the same number of requests, an older message may show more waiting requests than there
 * are, never fewer.
 */
function add(reports: ByReplica, { replica, key, activity }: ActivityMessage): void {
  const counts = reports.get(replica);
  if (counts && activity.requests >= activityIn(counts, key).requests) Object.assign(counts, countsOf(key, activity));
}

/** An activity as part of a report. */
export function countsOf(key: string, activity: SharedActivity): Counts {
  return Object.fromEntries(FIELDS.map((field) => [`${field}:${key}`, activity[field] ?? 0]));
}

/** A Service that is missing in a report had no requests. */
export function activityIn(counts: Counts, key: string): SharedActivity {
  return activityOf((field) => counts[`${field}:${key}`] ?? 0);
}

export function messageText({ replica, key, activity }: ActivityMessage): string {
  return [replica, key, ...FIELDS.map((field) => activity[field] ?? 0)].join(" ");
}

/** Undefined if the text is not a valid message. */
export function parseMessage(text: string): ActivityMessage | undefined {
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

/** A time of 0 means none. */
function activityOf(value: (field: (typeof FIELDS)[number]) => number): SharedActivity {
  return {
    pending: value("pending"),
    inFlight: value("inFlight"),
    requests: value("requests"),
    lastRequestAt: value("lastRequestAt") || null,
    requestRate: value("requestRate"),
  };
}
