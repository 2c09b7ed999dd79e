import type { Clock, Component, Logger } from "@evenkeel/runtime";
import type { Counts, State as SharedState } from "@evenkeel/state";
import type { Activity } from "../decide/snapshot.ts";

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
  /** The uid under which the replicas share what they know of a Service; nothing if nobody looks after it. */
  readonly object: (key: string) => string | undefined;
  /** Whether requests of a Service come to the resolvers. */
  readonly inPath: (key: string) => boolean;
  /** How many resolvers take requests. */
  readonly resolvers: () => number;
  /** Another replica has news of a Service. */
  readonly changed: (key: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How often a replica says what it has, and how long that is believed, in milliseconds. */
const INTERVAL = 1000;
const TTL = 3500;
/** Services whose counts are reported at once. */
const PARALLEL = 50;
/** Reports over which the rate of requests is taken. */
const WINDOW = 60;
const TOPIC = "activity";
/** The object under which replicas tell each other that there is news. */
const ALL = "activity";

/**
 * What all replicas have of a Service together. Each reports its own every second while requests come to it; one that dies is forgotten
 * after a few. While one that takes requests is not heard of, or the shared state is away, nothing is known: and what is not known puts
 * nobody to sleep.
 */
export class Activities implements Component {
  readonly name = "activities";
  readonly #options: ActivitiesOptions;
  /** The Services that were reported last, so that the last report of each is that it has nothing. */
  #reported = new Set<string>();
  /** By Service, the count of requests at the last reports, the oldest first. */
  readonly #counts = new Map<string, number[]>();
  #cancel: () => void = () => undefined;
  #unsubscribe: () => void = () => undefined;
  #stopped = false;
  #warned = false;

  constructor(options: ActivitiesOptions) {
    this.#options = options;
  }

  start(): void {
    const { state, instance, changed } = this.#options;
    this.#unsubscribe = state.edges.subscribe(ALL, TOPIC, (notice) => {
      if (notice.kind !== "edge") return;
      const [from, key = ""] = notice.text.split(" ");
      if (from !== instance) changed(key);
    });
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    this.#unsubscribe();
    const { state, instance, object } = this.#options;
    const objects = [...this.#reported].flatMap((key) => object(key) ?? []);
    await Promise.allSettled(objects.map((uid) => state.counters.withdraw(uid, instance)));
  }

  /** Something began or ended here: the others hear of it at once, if there are any. */
  tell(key: string): void {
    const { state, instance, resolvers } = this.#options;
    if (resolvers() < 2) return;
    void this.#report(key)
      .then(() => state.edges.publish(ALL, TOPIC, `${instance} ${key}`))
      .catch((error: unknown) => this.#fail(error));
  }

  /** Null while it is not known. */
  async read(key: string): Promise<SharedActivity | null> {
    const { state, object, resolvers, instance } = this.#options;
    const own = this.#own(key);
    if (resolvers() < 2) return own;
    const uid = object(key);
    if (uid === undefined || !state.available) return null;
    try {
      const reports = await state.counters.read(uid);
      const others = [...reports].filter(([replica]) => replica !== instance).map(([, counts]) => counts);
      return others.length + 1 < resolvers() ? null : others.reduce(add, own);
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  #schedule(): void {
    this.#cancel = this.#options.clock.schedule(INTERVAL, () => {
      void this.#reportAll().finally(() => this.#stopped || this.#schedule());
    });
  }

  async #reportAll(): Promise<void> {
    const { keys, inPath, resolvers, state, local } = this.#options;
    const known = [...keys()];
    const live = new Set(known.filter((key) => inPath(key) || isBusy(local(key))));
    const due = known.filter((key) => live.has(key) || this.#reported.has(key));
    this.#reported = live;
    this.#sample(due);
    if (resolvers() < 2 || !state.available) return;
    try {
      for (let at = 0; at < due.length; at += PARALLEL) {
        await Promise.all(due.slice(at, at + PARALLEL).map((key) => this.#report(key)));
      }
      this.#warned = false;
    } catch (error) {
      this.#fail(error);
    }
  }

  async #report(key: string): Promise<void> {
    const { state, instance, object } = this.#options;
    const uid = object(key);
    if (uid === undefined) return;
    const { lastRequestAt, ...counts } = this.#own(key);
    await state.counters.report(uid, instance, { ...counts, lastRequestAt: lastRequestAt ?? 0 }, TTL);
  }

  #own(key: string): SharedActivity {
    const activity = this.#options.local(key);
    const [oldest = activity.requests, ...later] = this.#counts.get(key) ?? [];
    const seconds = Math.max(1, later.length + 1) * (INTERVAL / 1000);
    return { ...activity, requestRate: Math.max(0, activity.requests - oldest) / seconds };
  }

  #sample(keys: readonly string[]): void {
    for (const key of this.#counts.keys()) if (!keys.includes(key)) this.#counts.delete(key);
    for (const key of keys) {
      const counts = this.#counts.get(key) ?? [];
      counts.push(this.#options.local(key).requests);
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

function isBusy({ pending, inFlight }: Activity): boolean {
  return pending + inFlight > 0;
}

function add(sum: SharedActivity, counts: Counts): SharedActivity {
  const { pending = 0, inFlight = 0, requests = 0, lastRequestAt = 0, requestRate = 0 } = counts;
  const last = Math.max(sum.lastRequestAt ?? 0, lastRequestAt);
  return {
    pending: sum.pending + pending,
    inFlight: sum.inFlight + inFlight,
    requests: sum.requests + requests,
    requestRate: sum.requestRate + requestRate,
    lastRequestAt: last === 0 ? null : last,
  };
}
