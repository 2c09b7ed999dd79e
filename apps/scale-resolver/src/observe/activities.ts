import type { Clock, Component, Logger } from "@evenkeel/runtime";
import type { Counts, State as SharedState } from "@evenkeel/state";
import type { Activity } from "../decide/snapshot.ts";
import type { ResolverEndpoint } from "./resolver-endpoints.ts";

/** What the resolvers have of a Service, and how many requests a second came to them over the last minute. */
export interface SharedActivity extends Activity {
  readonly requestRate: number;
}

export interface ActivitiesOptions {
  readonly state: Pick<SharedState, "counters" | "edges" | "available">;
  /** This replica, as no other is named. */
  readonly instance: string;
  /** The Services that this replica knows, by key. */
  readonly keys: () => Iterable<string>;
  /** What this replica has of one. */
  readonly local: (key: string) => Activity;
  /** Those that take requests now, this one or not. */
  readonly resolvers: () => readonly Pick<ResolverEndpoint, "replica" | "targetRef">[];
  /** Whether others can be heard of: the state is no one process's own. */
  readonly shared: boolean;
  /** Another replica has news of a Service. What is read from then on has it. */
  readonly changed: (key: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How often a replica says what it has, and how long that is believed, in milliseconds. */
const INTERVAL = 1000;
const TTL = 3500;
/** How long an answer of the others is good enough for looks that no act depends on, in milliseconds. */
const FRESH = 250;
/** Reports over which the rate of requests is taken. */
const WINDOW = 60;
/** Where the replicas of the service meet. */
const OBJECT = "resolvers";
const TOPIC = "activity";

/**
 * What all replicas have of each Service together. Each reports its own every second, and at once when something begins or ends; one
 * that dies is forgotten after a few. While one that takes requests is not heard of, or the shared state is away, nothing is known: and
 * what is not known puts nobody to sleep.
 */
export class Activities implements Component {
  readonly name = "activities";
  readonly #options: ActivitiesOptions;
  /** By Service, the count of requests at the last reports, the oldest first. */
  readonly #counts = new Map<string, number[]>();
  #others: { readonly at: number; readonly reports: Promise<ReadonlyMap<string, Counts>> } | undefined;
  #reporting: Promise<void> | undefined;
  /** Reports that were asked for, and those that are in what was sent. */
  #asked = 0;
  #sent = 0;
  #cancel: () => void = () => undefined;
  #unsubscribe: () => void = () => undefined;
  #stopped = false;
  #warned = false;

  constructor(options: ActivitiesOptions) {
    this.#options = options;
  }

  start(): void {
    const { state, instance, changed } = this.#options;
    this.#unsubscribe = state.edges.subscribe(OBJECT, TOPIC, (notice) => {
      if (notice.kind !== "edge") return;
      const [from, key = ""] = notice.text.split(" ");
      if (from === instance) return;
      this.#others = undefined;
      changed(key);
    });
    this.#beat();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    this.#unsubscribe();
    const { state, instance } = this.#options;
    if (!this.#options.shared) return;
    await this.#reporting?.catch(() => undefined);
    await state.counters.withdraw(OBJECT, instance).catch(() => undefined);
  }

  /** Something began or ended here: the others hear of it at once, if there are any. */
  tell(key: string): void {
    if (!this.#options.shared || this.#stopped) return;
    const { state, instance } = this.#options;
    const publish = () => state.edges.publish(OBJECT, TOPIC, `${instance} ${key}`);
    // What is sent in one go arrives in its order, so that whoever hears of the report finds it.
    const isSentNow = this.#reporting === undefined;
    const reported = this.#report();
    const published = isSentNow ? publish() : reported.then(publish);
    void Promise.all([reported, published]).catch((error: unknown) => this.#fail(error));
  }

  /** Null while it is not known. `now` asks the others anew, for what is done upon the answer. */
  async read(key: string, now = false): Promise<SharedActivity | null> {
    const { state, instance, shared } = this.#options;
    if (!shared) return this.#areHeard(new Set([instance])) ? this.#own(key) : null;
    if (!state.available) return null;
    try {
      const reports = await this.#reports(now);
      const others = [...reports].filter(([replica]) => replica !== instance);
      if (!this.#areHeard(new Set([instance, ...others.map(([replica]) => replica)]))) return null;
      // One that leaves takes no new requests, and what it holds counts all the same.
      return others.reduce((sum, [, counts]) => added(sum, key, counts), this.#own(key));
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  /** What only this replica has. */
  local(key: string): Activity {
    return this.#options.local(key);
  }

  /** Whether every resolver that takes requests is among those. One whose name is not known counts for any. */
  #areHeard(heard: ReadonlySet<string>): boolean {
    const names = new Map(this.#options.resolvers().map(({ replica, targetRef }) => [replica, targetRef?.name]));
    const unheard = [...names.values()].filter((name) => name !== undefined && !heard.has(name));
    return unheard.length === 0 && names.size <= heard.size;
  }

  #reports(now: boolean): Promise<ReadonlyMap<string, Counts>> {
    const { clock, state } = this.#options;
    const at = clock.monotonic();
    if (now || !this.#others || at - this.#others.at > FRESH) {
      const reports = state.counters.read(OBJECT);
      this.#others = { at, reports };
      reports.catch(() => (this.#others = undefined));
    }
    return this.#others.reports;
  }

  #beat(): void {
    this.#sample();
    const { shared } = this.#options;
    const reported = shared ? this.#report().catch((error: unknown) => this.#fail(error)) : Promise.resolve();
    void reported.then(() => {
      if (!this.#stopped) this.#cancel = this.#options.clock.schedule(INTERVAL, () => this.#beat());
    });
  }

  /** One report at a time; what happens meanwhile is in the next. */
  #report(): Promise<void> {
    this.#asked += 1;
    this.#reporting ??= this.#send().finally(() => (this.#reporting = undefined));
    return this.#reporting;
  }

  async #send(): Promise<void> {
    const { state, instance } = this.#options;
    while (this.#sent < this.#asked) {
      this.#sent = this.#asked;
      await state.counters.report(OBJECT, instance, this.#all(), TTL);
      this.#warned = false;
    }
  }

  /** Services that never had a request are left out: whoever misses them takes them for nothing. */
  #all(): Counts {
    const counts: Record<string, number> = { alive: 1 };
    for (const key of this.#options.keys()) {
      const { pending, inFlight, requests, lastRequestAt, requestRate } = this.#own(key);
      if (requests === 0) continue;
      Object.assign(counts, {
        [`pending:${key}`]: pending,
        [`inFlight:${key}`]: inFlight,
        [`requests:${key}`]: requests,
        [`lastRequestAt:${key}`]: lastRequestAt ?? 0,
        [`requestRate:${key}`]: requestRate,
      });
    }
    return counts;
  }

  #own(key: string): SharedActivity {
    const activity = this.#options.local(key);
    const counts = this.#counts.get(key) ?? [];
    const [oldest = activity.requests] = counts;
    const seconds = (Math.max(1, counts.length) * INTERVAL) / 1000;
    return { ...activity, requestRate: Math.max(0, activity.requests - oldest) / seconds };
  }

  #sample(): void {
    const { keys, local } = this.#options;
    const known = new Set(keys());
    for (const key of this.#counts.keys()) if (!known.has(key)) this.#counts.delete(key);
    for (const key of known) {
      const { requests } = local(key);
      const counts = this.#counts.get(key) ?? [];
      if (requests === 0 && counts.length === 0) continue;
      counts.push(requests);
      if (counts.length > WINDOW) counts.shift();
      this.#counts.set(key, counts);
    }
  }

  #fail(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#options.log.warn({ error }, "replicas do not hear of each other; nothing is put to sleep meanwhile");
  }
}

function added(sum: SharedActivity, key: string, counts: Counts): SharedActivity {
  const of = (name: string) => counts[`${name}:${key}`] ?? 0;
  const last = Math.max(sum.lastRequestAt ?? 0, of("lastRequestAt"));
  return {
    pending: sum.pending + of("pending"),
    inFlight: sum.inFlight + of("inFlight"),
    requests: sum.requests + of("requests"),
    requestRate: sum.requestRate + of("requestRate"),
    lastRequestAt: last === 0 ? null : last,
  };
}
