import type { Clock, Component, Logger } from "@evenkeel/runtime";
import type { Counts, State as SharedState } from "@evenkeel/state";
import type { Activity } from "../decide/snapshot.ts";
import { activityIn, added, countsOf, Reports, type SharedActivity, wordOf, wordText } from "./activity-reports.ts";
import type { ResolverEndpoint } from "../observe/resolver-endpoints.ts";

/** What is known of a Service without asking anybody. */
export interface SeenActivity {
  /** Of all `parts` together. */
  readonly total: SharedActivity;
  /** By replica, this one first: its own as it is now, the others' as of their last heartbeat, or since. */
  readonly parts: readonly ReplicaActivity[];
  /** A sentence that says who is missing in it; null if nobody is. */
  readonly gap: string | null;
}

export interface ReplicaActivity extends SharedActivity {
  readonly replica: string;
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
  /** Another replica has news of a Service. What is read or seen from then on has it. */
  readonly changed: (key: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How often a replica says what it has, and how long that is believed, in milliseconds. */
const INTERVAL = 1000;
const TTL = 3500;
/** How long what was read of the others is good enough for looks that no act depends on, in milliseconds. */
const FRESH = 250;
/** Reports over which the rate of requests is taken. */
const WINDOW = 60;
/** Where the replicas of the service meet. */
const OBJECT = "resolvers";
const TOPIC = "activity";

/**
 * What all replicas have of each Service together. Each reports its own every second, and at once when something begins or ends: the
 * word that it sends then has the numbers with it, so that who hears it need not ask. One that dies is forgotten after a few seconds.
 * While one that takes requests is not heard of, or the shared state is away, nothing is known: and what is not known puts nobody to
 * sleep.
 */
export class Activities implements Component {
  readonly name = "activities";
  readonly #options: ActivitiesOptions;
  /** By Service, the count of requests at the last reports, the oldest first. */
  readonly #counts = new Map<string, number[]>();
  readonly #reports: Reports;
  #reporting: Promise<void> | undefined;
  /** Reports that were asked for, and those that are in what was sent. */
  #asked = 0;
  #sent = 0;
  /** What the last beat reported, as text. */
  #beaten = "";
  #refreshing: (() => void) | undefined;
  #cancel: () => void = () => undefined;
  #unsubscribe: () => void = () => undefined;
  #stopped = false;
  #warned = false;

  constructor(options: ActivitiesOptions) {
    this.#options = options;
    const { state, clock } = options;
    this.#reports = new Reports({ read: () => state.counters.read(OBJECT), clock });
  }

  start(): void {
    const { state, instance, changed, shared } = this.#options;
    if (shared) {
      this.#unsubscribe = state.edges.subscribe(OBJECT, TOPIC, (notice) => {
        const word = notice.kind === "edge" ? wordOf(notice.text) : undefined;
        if (!word) this.#refresh();
        if (!word || word.replica === instance) return;
        this.#reports.hear(word);
        changed(word.key);
      });
    }
    this.#beat();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    this.#refreshing?.();
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
    const publish = () =>
      state.edges.publish(OBJECT, TOPIC, wordText({ replica: instance, key, activity: this.#own(key) }));
    // What is sent in one go arrives in its order, so that whoever hears the word and asks all the same finds it reported.
    const isSentNow = this.#reporting === undefined;
    const reported = this.#report();
    const published = isSentNow ? publish() : reported.then(publish);
    void Promise.all([reported, published]).catch((error: unknown) => this.#fail(error));
  }

  /** Null while it is not known. `now` asks the others anew, for what is done upon the answer. */
  async read(key: string, now = false): Promise<SharedActivity | null> {
    try {
      if (this.#hears) await this.#reports.read(now ? 0 : FRESH);
    } catch (error) {
      this.#fail(error);
    }
    const { total, gap } = this.seen(key);
    return gap === null ? total : null;
  }

  /** What is known of a Service and of whom, however few they are. */
  seen(key: string): SeenActivity {
    const { instance } = this.#options;
    const own = this.#own(key);
    const reports = this.#hears ? this.#reports.latest(TTL) : undefined;
    // One that leaves takes no new requests, and what it holds counts all the same.
    const others = [...(reports ?? [])]
      .filter(([replica]) => replica !== instance)
      .map(([replica, counts]) => ({ replica, ...activityIn(counts, key) }));
    const total = others.reduce(added, own);
    const parts = [{ replica: instance, ...own }, ...others];
    return { total, parts, gap: this.#gap(reports !== undefined, new Set(parts.map(({ replica }) => replica))) };
  }

  /** Whether there is a place where the others can be heard. */
  get #hears(): boolean {
    return this.#options.shared && this.#options.state.available;
  }

  #gap(isRead: boolean, heard: ReadonlySet<string>): string | null {
    const { shared, instance } = this.#options;
    const alone = `only requests of replica ${instance} are known`;
    if (shared && !isRead) return `The shared state is unavailable; ${alone}`;
    const unheard = this.#unheard(heard);
    if (unheard.length === 0) return null;
    return shared ? `No report from ${unheard.join(", ")}` : `The replicas do not share their state; ${alone}`;
  }

  /** The resolvers that take requests and are not among those. One whose name is not known counts for any. */
  #unheard(heard: ReadonlySet<string>): readonly string[] {
    const names = new Map(this.#options.resolvers().map(({ replica, targetRef }) => [replica, targetRef?.name]));
    const unheard = [...names.values()].filter((name) => name !== undefined && !heard.has(name)) as string[];
    return unheard.length === 0 && names.size > heard.size ? ["a replica without a name"] : unheard;
  }

  /** Reads what the others have, soon and not too often. */
  #refresh(): void {
    if (this.#stopped) return;
    this.#refreshing ??= this.#options.clock.schedule(Math.max(0, FRESH - this.#reports.age), () => {
      this.#refreshing = undefined;
      this.#reports.read(0).catch((error: unknown) => this.#fail(error));
    });
  }

  #beat(): void {
    this.#sample();
    const exchanged = this.#options.shared ? this.#exchange() : Promise.resolve();
    void exchanged
      .catch((error: unknown) => this.#fail(error))
      .then(() => {
        if (!this.#stopped) this.#cancel = this.#options.clock.schedule(INTERVAL, () => this.#beat());
      });
  }

  /** Says what this replica has and hears what the others have. They are told to look if that is news. */
  async #exchange(): Promise<void> {
    const { state, instance } = this.#options;
    const text = JSON.stringify(this.#all());
    const isNews = text !== this.#beaten;
    this.#beaten = text;
    await Promise.all([this.#report(), this.#reports.read(0)]);
    if (isNews) await state.edges.publish(OBJECT, TOPIC, instance);
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
      const own = this.#own(key);
      if (own.requests > 0) Object.assign(counts, countsOf(key, own));
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
    this.#options.log.warn(
      { error },
      "could not exchange request counts with other replicas; nothing is scaled to 0 until this succeeds",
    );
  }
}
