import type { Clock, Component, Logger } from "@evenkeel/runtime";
import type { Counts, State as SharedState } from "@evenkeel/state";
import type { Activity } from "../decide/snapshot.ts";
import {
  activityIn,
  added,
  countsOf,
  Reports,
  type SharedActivity,
  parseMessage,
  messageText,
} from "./activity-reports.ts";
import type { ResolverEndpoint } from "../observe/resolver-endpoints.ts";

/** The known activity of a Service, without a request to other replicas. */
export interface SeenActivity {
  /** The sum of all `parts`. */
  readonly total: SharedActivity;
  /** Activity by replica, this one first. That of other replicas is from their last report. */
  readonly parts: readonly ReplicaActivity[];
  /** A sentence that names the replicas without a report; null if all report. */
  readonly gap: string | null;
}

export interface ReplicaActivity extends SharedActivity {
  readonly replica: string;
}

export interface ActivitiesOptions {
  readonly state: Pick<SharedState, "counters" | "edges" | "available">;
  /** The unique name of this replica. */
  readonly instance: string;
  /** The Services of this replica, by key. */
  readonly keys: () => Iterable<string>;
  /** This replica's activity of a Service. */
  readonly local: (key: string) => Activity;
  /** The ready replicas, including this one. */
  readonly resolvers: () => readonly Pick<ResolverEndpoint, "replica" | "targetRef">[];
  /** Whether replicas can see each other's reports: the state is not local to one process. */
  readonly shared: boolean;
  /** Called when another replica reports news of a Service. */
  readonly changed: (key: string) => void;
  /** Called when `silent` changes. */
  readonly silenceChanged: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds between two reports of a replica, and how long a report is valid. */
const INTERVAL = 1000;
const TTL = 3500;
/**
 * Milliseconds since its last report after which a ready replica counts as silent: longer than a restart of Redis or a
 * busy node delays reports, and far shorter than Kubernetes needs to notice a failed node (40 s).
 */
const SILENT = 10_000;
/** Milliseconds for which reports of other replicas are fresh enough for reads that no act depends on. */
const FRESH = 250;
/** Number of reports for the request rate. */
const WINDOW = 60;
/** Name of the state object in which all replicas report. */
const OBJECT = "resolvers";
const TOPIC = "activity";

/**
 * The activity of each Service, summed over all replicas. Each replica reports every second, and at once when something
 * begins or ends; that message contains the numbers. A replica that stops reporting is forgotten after a few seconds.
 * While a ready replica has not reported, or the shared state is unavailable, the activity is unknown, and no service
 * is scaled to 0.
 */
export class Activities implements Component {
  readonly name = "activities";
  readonly #options: ActivitiesOptions;
  /** The request counts at the last reports by Service, the oldest first. */
  readonly #counts = new Map<string, number[]>();
  readonly #reports: Reports;
  /** When each replica that counts as ready was first missing in the reports, by name, on the monotonic clock. */
  readonly #missingSince = new Map<string, number>();
  #silent: ReadonlySet<string> = new Set();
  #reporting: Promise<void> | undefined;
  /** Number of requested reports, and number of those that were sent. */
  #requested = 0;
  #sent = 0;
  /** The last report, as text. */
  #lastReport = "";
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
        const message = notice.kind === "edge" ? parseMessage(notice.text) : undefined;
        if (!message) this.#refresh();
        if (!message || message.replica === instance) return;
        this.#reports.receive(message);
        changed(message.key);
      });
    }
    this.#reportRegularly();
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

  /** Reports at once to the other replicas, if there are any, that something began or ended here. */
  tell(key: string): void {
    if (!this.#options.shared || this.#stopped) return;
    const { state, instance } = this.#options;
    const publish = () =>
      state.edges.publish(OBJECT, TOPIC, messageText({ replica: instance, key, activity: this.#own(key) }));
    // The report and the message are sent together and arrive in order, so a replica that receives the message and then
    // reads finds the report.
    const isSentNow = this.#reporting === undefined;
    const reported = this.#report();
    const published = isSentNow ? publish() : reported.then(publish);
    void Promise.all([reported, published]).catch((error: unknown) => this.#fail(error));
  }

  /** Null while it is unknown. `now` reads the other replicas' reports again, for acts that depend on the result. */
  async read(key: string, now = false): Promise<SharedActivity | null> {
    try {
      if (this.#canRead) await this.#reports.read(now ? 0 : FRESH);
    } catch (error) {
      this.#fail(error);
    }
    const { total, gap } = this.seen(key);
    return gap === null ? total : null;
  }

  /** The activity of a Service as far as it is known. */
  seen(key: string): SeenActivity {
    const { instance } = this.#options;
    const own = this.#own(key);
    const reports = this.#readable;
    // A terminating replica gets no new requests, but its waiting requests count.
    const others = [...(reports ?? [])]
      .filter(([replica]) => replica !== instance)
      .map(([replica, counts]) => ({ replica, ...activityIn(counts, key) }));
    const total = others.reduce(added, own);
    const parts = [{ replica: instance, ...own }, ...others];
    return { total, parts, gap: this.#gap(reports !== undefined, new Set(parts.map(({ replica }) => replica))) };
  }

  /**
   * Names of the ready replicas that have not reported for a while, because they stopped without notice or their node
   * is gone. Empty while the reports cannot be read.
   */
  silent(): ReadonlySet<string> {
    return this.#silent;
  }

  /** Notes which replicas are missing in the reports. A replica that reports again is silent no longer. */
  #watchSilence(): void {
    const { clock, log, silenceChanged, instance } = this.#options;
    const now = clock.monotonic();
    const reports = this.#readable;
    const missing = reports ? this.#missing(new Set([instance, ...reports.keys()])) : [];
    for (const name of this.#missingSince.keys()) if (!missing.includes(name)) this.#missingSince.delete(name);
    for (const name of missing) if (!this.#missingSince.has(name)) this.#missingSince.set(name, now);
    const before = this.#silent;
    this.#silent = new Set(missing.filter((name) => now - (this.#missingSince.get(name) ?? now) >= SILENT - TTL));
    const silent = [...this.#silent];
    if (silent.length === before.size && silent.every((name) => before.has(name))) return;
    if (silent.length > 0) log.warn({ silent }, "ready replicas do not report; no Service is redirected to them");
    else log.info("Services are redirected to all ready replicas again");
    silenceChanged();
  }

  /** The reports of all replicas; undefined while they cannot be read. */
  get #readable(): ReadonlyMap<string, Counts> | undefined {
    return this.#canRead ? this.#reports.latest(TTL) : undefined;
  }

  /** Whether reports of other replicas can be read. */
  get #canRead(): boolean {
    return this.#options.shared && this.#options.state.available;
  }

  #gap(isRead: boolean, reporting: ReadonlySet<string>): string | null {
    const { shared, instance } = this.#options;
    const alone = `only requests of replica ${instance} are known`;
    if (shared && !isRead) return `The shared state is unavailable; ${alone}`;
    const missing = this.#missing(reporting);
    const isNameless = missing.length === 0 && this.#ready().size > reporting.size;
    if (isNameless) missing.push("a replica without a name");
    if (missing.length === 0) return null;
    return shared ? `No report from ${missing.join(", ")}` : `The replicas do not share their state; ${alone}`;
  }

  /** Names of the ready replicas that are not in `reporting`. A replica without a name matches any. */
  #missing(reporting: ReadonlySet<string>): string[] {
    return [...this.#ready().values()].filter((name) => name !== undefined && !reporting.has(name)) as string[];
  }

  /** The names of the ready replicas, by their ids. */
  #ready(): ReadonlyMap<string, string | undefined> {
    return new Map(this.#options.resolvers().map(({ replica, targetRef }) => [replica, targetRef?.name]));
  }

  /** Reads the reports of other replicas soon, and not too often. */
  #refresh(): void {
    if (this.#stopped) return;
    this.#refreshing ??= this.#options.clock.schedule(Math.max(0, FRESH - this.#reports.age), () => {
      this.#refreshing = undefined;
      void this.#reports
        .read(0)
        .catch((error: unknown) => this.#fail(error))
        .then(() => this.#watchSilence());
    });
  }

  #reportRegularly(): void {
    this.#sample();
    const exchanged = this.#options.shared ? this.#exchange() : Promise.resolve();
    void exchanged
      .catch((error: unknown) => this.#fail(error))
      .then(() => {
        this.#watchSilence();
        if (!this.#stopped) this.#cancel = this.#options.clock.schedule(INTERVAL, () => this.#reportRegularly());
      });
  }

  /** Reports this replica's activity and reads that of the others. Notifies them if it changed. */
  async #exchange(): Promise<void> {
    const { state, instance } = this.#options;
    const text = JSON.stringify(this.#all());
    const isNews = text !== this.#lastReport;
    this.#lastReport = text;
    await Promise.all([this.#report(), this.#reports.read(0)]);
    if (isNews) await state.edges.publish(OBJECT, TOPIC, instance);
  }

  /** Sends one report at a time. Changes during it are in the next one. */
  #report(): Promise<void> {
    this.#requested += 1;
    this.#reporting ??= this.#send().finally(() => (this.#reporting = undefined));
    return this.#reporting;
  }

  async #send(): Promise<void> {
    const { state, instance } = this.#options;
    while (this.#sent < this.#requested) {
      this.#sent = this.#requested;
      await state.counters.report(OBJECT, instance, this.#all(), TTL);
      this.#warned = false;
    }
  }

  /** Omits Services without requests. A reader counts a missing Service as 0. */
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
