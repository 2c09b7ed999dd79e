import type { Metrics } from "@evenkeel/metrics";
import { type Clock, type Component, type Logger, sleep } from "@evenkeel/runtime";
import { AlreadyStarted, BadRequest, BadWatchEvent, InitialEventsCut, Invalid, Unreachable } from "../errors.ts";
import { isVersionRefused, listAll } from "./list-pager.ts";
import type { KubeObject } from "../objects/object.ts";
import type { reflectorMetrics } from "./reflector-metrics.ts";
import { Refusal } from "../wire/refusal.ts";
import type { Resource, Selection, WatchEvent } from "../objects/resource.ts";
import type { Store } from "./store.ts";
import type { StoreDraft } from "./store-draft.ts";
import { TimeSlice } from "./time-slice.ts";
import { watchBackoff, WatchBackoff, type WatchBackoffOptions } from "./watch-backoff.ts";

export interface ReflectorTiming {
  /** Seconds after which the server ends a watch: a random time in this range, so that watches do not end together. */
  readonly watchSeconds: readonly [least: number, most: number];
  /** Milliseconds without a byte that make a connection count as dead. Servers send a bookmark about once a minute. */
  readonly silence: number;
  /** Milliseconds of work on a list before others get their turn. */
  readonly slice: number;
  readonly backoff: WatchBackoffOptions;
}

export const reflectorTiming: ReflectorTiming = {
  watchSeconds: [300, 600],
  silence: 100_000,
  slice: 8,
  backoff: watchBackoff,
};

/** What a reflector needs of a store, whatever its indexes. */
export type ReflectedStore<T extends KubeObject> = Pick<
  Store<T>,
  "put" | "remove" | "draft" | "replace" | "hasSynced" | "size"
>;

export interface ReflectorOptions<T extends KubeObject> {
  /** What is reflected, as logs, metrics and readiness name it, such as `pods`. */
  readonly name: string;
  readonly resource: Resource<T>;
  readonly store: ReflectedStore<T>;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics?: Metrics<typeof reflectorMetrics> | undefined;
  readonly selection?: Selection;
  /** Objects a page of a list. */
  readonly pageSize?: number;
  /**
   * Whether the first state is asked for as a stream, which costs the server and this process less than a list. Servers
   * that cannot are noticed.
   */
  readonly streamLists?: boolean;
  readonly timing?: Partial<ReflectorTiming>;
}

/** How long a watch may outlive the end that it asked the server for, in milliseconds. */
const WATCH_GRACE = 30_000;
/** A watch that lived this long was of use even if nothing happened, in milliseconds. */
const USEFUL_AFTER = 1000;
/** Streams of the first state that may break before a list is tried instead. */
const STREAM_TRIES = 2;

/**
 * Keeps a store equal to what the API server has, from `start` to `stop`. It never gives up: whatever fails is tried
 * again, after waits that keep the requests bounded. While the server is away the store keeps what was there;
 * `staleness` says for how long.
 */
export class Reflector<T extends KubeObject> implements Component {
  readonly name: string;
  readonly #options: ReflectorOptions<T>;
  readonly #timing: ReflectorTiming;
  readonly #backoff: WatchBackoff;
  readonly #stopping = new AbortController();
  #run: Promise<void> | undefined;
  /** Where the next watch begins; nothing when a whole list must come first. */
  #resumeAt: string | undefined;
  /**
   * The newest version seen, which a list may not fall behind: `"0"` before the first, `""` when the server has
   * forgotten it.
   */
  #notOlderThan = "0";
  #streams: boolean;
  #brokenStreams = 0;
  #heardAt: number | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.name = `reflector of ${options.name}`;
    this.#options = options;
    this.#timing = { ...reflectorTiming, ...options.timing };
    this.#backoff = new WatchBackoff(options.clock, options.random, this.#timing.backoff);
    this.#streams = options.streamLists ?? true;
  }

  /** Begins; the store is filled some time later. It runs once in its life. */
  start(): void {
    if (this.#run) throw new AlreadyStarted({ what: this.name });
    this.#run = this.#reflect(this.#stopping.signal);
  }

  /** Resolves once nothing of it runs. The store keeps its objects. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  unready(): string | undefined {
    return this.#options.store.hasSynced ? undefined : `the first list of ${this.#options.name} is not in yet`;
  }

  /**
   * Milliseconds since the server last said anything; nothing before the first list is in. A healthy watch hears of its
   * server about once a minute, so more than a few minutes means that the store may be out of date.
   */
  staleness(): number | undefined {
    return this.#heardAt === undefined ? undefined : this.#options.clock.monotonic() - this.#heardAt;
  }

  async #reflect(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const ended = () => signal.aborted;
    while (!ended()) {
      const session = new Session<T>(clock);
      let wait: number;
      try {
        if (this.#resumeAt === undefined && !this.#shouldStream) await this.#list(signal);
        await this.#watch(session, signal);
        wait = session.useful ? this.#backoff.afterUse() : this.#backoff.afterFailure();
      } catch (error) {
        if (ended()) return;
        wait = this.#recover(error, session);
        log.warn(
          { error, reflector: this.#options.name, wait: Math.round(wait) },
          "the watch broke; it will be opened again",
        );
      }
      if (wait > 0) await sleep(clock, wait, signal).catch(() => undefined);
    }
  }

  get #shouldStream(): boolean {
    return this.#streams && this.#brokenStreams < STREAM_TRIES;
  }

  /** Draws the conclusions from a failure. Returns the wait before the next try. */
  #recover(error: unknown, session: Session<T>): number {
    this.#options.metrics?.failures.inc({ reflector: this.#options.name });
    const misunderstood = error instanceof Invalid || error instanceof BadRequest;
    if (isVersionRefused(error)) {
      this.#resumeAt = undefined;
      this.#notOlderThan = "";
    } else if (session.filling) {
      if (misunderstood) {
        this.#streams = false;
        return 0;
      }
      this.#brokenStreams += 1;
    } else if (misunderstood || (error instanceof BadWatchEvent && !session.useful)) {
      // From the same version the same would come again.
      this.#resumeAt = undefined;
    } else if (session.useful && !(error instanceof Refusal || error instanceof Unreachable)) {
      return this.#backoff.afterUse();
    }
    return this.#backoff.afterFailure(error instanceof Refusal ? error.retryAfter : undefined);
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { resource, store, selection = {}, pageSize = 500, clock } = this.#options;
    this.#count("list");
    const slice = new TimeSlice(clock, this.#timing.slice);
    const { draft, resourceVersion } = await listAll({
      resource,
      selection,
      signal,
      pageSize,
      slice,
      notOlderThan: this.#notOlderThan,
      draft: () => store.draft(),
    });
    await this.#replace(draft, slice, signal);
    this.#reached(resourceVersion);
  }

  /** One watch, from its opening to its end. Without a version to begin at, its first events are the whole state. */
  async #watch(session: Session<T>, signal: AbortSignal): Promise<void> {
    const { resource, selection = {}, clock, random } = this.#options;
    signal.throwIfAborted();
    const [least, most] = this.#timing.watchSeconds;
    const timeoutSeconds = Math.round(least + random() * (most - least));
    const begin =
      this.#resumeAt === undefined
        ? { ...this.#streamVersion(), resourceVersionMatch: "NotOlderThan" as const, sendInitialEvents: true }
        : { resourceVersion: this.#resumeAt };
    session.open(this.#resumeAt === undefined ? this.#options.store.draft() : undefined);
    this.#count("watch");
    const watching = new AbortController();
    const end = () => watching.abort();
    signal.addEventListener("abort", end, { once: true });
    // The server ends the watch by itself; this is for one that does not keep its word.
    const cancel = clock.schedule(timeoutSeconds * 1000 + WATCH_GRACE, end);
    try {
      const events = resource.watch({
        ...selection,
        ...begin,
        signal: watching.signal,
        allowWatchBookmarks: true,
        timeoutSeconds,
        silence: this.#timing.silence,
      });
      await this.#follow(events, session, signal);
    } finally {
      cancel();
      signal.removeEventListener("abort", end);
      end();
    }
  }

  /** A stream of the first state takes no `"0"`: an empty version asks for the newest, a real one for nothing older. */
  #streamVersion(): { readonly resourceVersion?: string } {
    return this.#notOlderThan === "0" || this.#notOlderThan === "" ? {} : { resourceVersion: this.#notOlderThan };
  }

  async #follow(events: AsyncIterable<WatchEvent<T>>, session: Session<T>, signal: AbortSignal): Promise<void> {
    const slice = new TimeSlice(this.#options.clock, this.#timing.slice);
    for await (const event of events) {
      if (signal.aborted) return;
      session.events += 1;
      await this.#take(event, session, slice, signal);
      if (slice.spent) await slice.rest();
    }
    if (session.filling && !signal.aborted) throw new InitialEventsCut({ what: this.#options.name });
  }

  async #take(event: WatchEvent<T>, session: Session<T>, slice: TimeSlice, signal: AbortSignal): Promise<void> {
    const { draft } = session;
    if (event.type !== "BOOKMARK") {
      const target = draft ?? this.#options.store;
      if (event.type === "DELETED") target.remove(event.object);
      else target.put(event.object);
      if (!draft) this.#reached(event.object.metadata.resourceVersion);
      return;
    }
    if (draft && !event.initialEventsEnd) {
      // Only a server that does not know of streamed lists sends a plain bookmark first.
      this.#streams = false;
      throw new InitialEventsCut({ what: this.#options.name });
    }
    if (draft) {
      session.draft = undefined;
      await this.#replace(draft, slice, signal);
    }
    this.#reached(event.resourceVersion);
  }

  async #replace(draft: StoreDraft<T>, slice: TimeSlice, signal: AbortSignal): Promise<void> {
    const { store, name, metrics } = this.#options;
    this.#brokenStreams = 0;
    const telling = store.replace(draft);
    while (!telling.next().done) {
      if (!slice.spent) continue;
      await slice.rest();
      if (signal.aborted) return;
    }
    metrics?.objects.set({ reflector: name }, store.size);
  }

  #reached(resourceVersion: string | undefined): void {
    this.#heardAt = this.#options.clock.monotonic();
    if (resourceVersion === undefined) return;
    this.#resumeAt = resourceVersion;
    this.#notOlderThan = resourceVersion;
  }

  #count(request: "list" | "watch"): void {
    this.#options.metrics?.requests.inc({ reflector: this.#options.name, request });
  }
}

/** One watch, as far as what follows it depends on it. */
class Session<T extends KubeObject> {
  /** The first state while it comes in. */
  draft: StoreDraft<T> | undefined;
  events = 0;
  readonly #clock: Clock;
  #openedAt = Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  open(draft: StoreDraft<T> | undefined): void {
    this.draft = draft;
    this.#openedAt = this.#clock.monotonic();
  }

  get filling(): boolean {
    return this.draft !== undefined;
  }

  get useful(): boolean {
    return !this.filling && (this.events > 0 || this.#clock.monotonic() - this.#openedAt >= USEFUL_AFTER);
  }
}
