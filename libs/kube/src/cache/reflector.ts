import type { Metrics } from "@evenkeel/metrics";
import { type Clock, type Component, type Logger, sleep } from "@evenkeel/runtime";
import {
  AlreadyStarted,
  BadRequest,
  BadWatchEvent,
  InitialEventsCut,
  Invalid,
  Unreachable,
  WatchSilent,
} from "../errors.ts";
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
  /** Seconds after which the server ends a watch: random in this range, so that watches do not end together. */
  readonly watchSeconds: readonly [least: number, most: number];
  /**
   * Milliseconds without data after which a watch is opened again. Servers send a bookmark about once a minute, but
   * none for a type of which nothing has changed since they started: silence is a failure only after a bookmark.
   */
  readonly silence: number;
  /** Milliseconds of work on a list before it yields to the event loop. */
  readonly slice: number;
  readonly backoff: WatchBackoffOptions;
}

const reflectorTiming: ReflectorTiming = {
  watchSeconds: [300, 600],
  silence: 100_000,
  slice: 8,
  backoff: watchBackoff,
};

/** What a reflector needs of a store, with any indexes. */
export type ReflectedStore<T extends KubeObject> = Pick<
  Store<T>,
  "put" | "remove" | "draft" | "replace" | "hasSynced" | "size"
>;

export interface ReflectorOptions<T extends KubeObject> {
  /** The name in logs, metrics and readiness, such as `pods`. */
  readonly name: string;
  readonly resource: Resource<T>;
  readonly store: ReflectedStore<T>;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics?: Metrics<typeof reflectorMetrics> | undefined;
  readonly selection?: Selection;
  /** Objects per page of a list. */
  readonly pageSize?: number;
  /**
   * Whether to read the first state as a stream, which costs the server and this process less than a list. If the
   * server does not support it, the reflector uses lists.
   */
  readonly streamLists?: boolean;
  readonly timing?: Partial<ReflectorTiming>;
  /**
   * Called with the error of each list or watch that fails, and with nothing once data arrives again or the server
   * ended a watch that only had nothing to tell.
   */
  readonly onFault?: ((error: unknown) => void) | undefined;
}

/** Milliseconds that a watch may outlive the time-out that it asked the server for. */
const WATCH_GRACE = 30_000;
/** Milliseconds after which a watch counts as one that worked, even without events. */
const USEFUL_AFTER = 1000;
/** Streams of the first state that may fail before a list is used instead. */
const STREAM_TRIES = 2;

/**
 * Keeps a store equal to what the API server has, from `start` to `stop`. It retries every failure, after waits that
 * bound the rate of requests. While the server is away the store keeps its objects; `staleness` says for how long.
 */
export class Reflector<T extends KubeObject> implements Component {
  readonly name: string;
  readonly #options: ReflectorOptions<T>;
  readonly #timing: ReflectorTiming;
  readonly #backoff: WatchBackoff;
  readonly #stopping = new AbortController();
  #run: Promise<void> | undefined;
  /** The version at which the next watch starts; undefined if a list must come first. */
  #resumeAt: string | undefined;
  /**
   * The newest version seen, which a list may not be older than: `"0"` before the first, `""` if the server no longer
   * has it.
   */
  #notOlderThan = "0";
  #streams: boolean;
  #brokenStreams = 0;
  #heardAt: number | undefined;
  #isFailing = false;

  constructor(options: ReflectorOptions<T>) {
    this.name = `reflector of ${options.name}`;
    this.#options = options;
    this.#timing = { ...reflectorTiming, ...options.timing };
    this.#backoff = new WatchBackoff(options.clock, options.random, this.#timing.backoff);
    this.#streams = options.streamLists ?? true;
  }

  /** Starts; the store is filled later. It can be started once. */
  start(): void {
    if (this.#run) throw new AlreadyStarted({ what: this.name });
    this.#run = this.#reflect(this.#stopping.signal);
  }

  /** Resolves when it has stopped. The store keeps its objects. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  unready(): string | undefined {
    return this.#options.store.hasSynced ? undefined : `the first list of ${this.#options.name} is not complete yet`;
  }

  /**
   * Milliseconds since the last data from the server; undefined before the first list is complete. A healthy watch gets
   * data about once a minute, but none at all where nothing has changed since the server started. `onFault` tells
   * whether it fails.
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
        if (session.useful) this.#works();
        wait = session.useful ? this.#backoff.afterUse() : this.#backoff.afterFailure();
      } catch (error) {
        if (ended()) return;
        if (error instanceof WatchSilent && !session.hasBookmarks) {
          if (!session.filling) this.#works();
          wait = this.#backoff.afterUse();
          log.debug({ reflector: this.#options.name }, "nothing happened in a watch; it is opened again");
        } else {
          wait = this.#recover(error, session);
          log.warn(
            { error, reflector: this.#options.name, wait: Math.round(wait) },
            "the watch failed; it will be opened again",
          );
        }
      }
      if (wait > 0) await sleep(clock, wait, signal).catch(() => undefined);
    }
  }

  get #shouldStream(): boolean {
    return this.#streams && this.#brokenStreams < STREAM_TRIES;
  }

  /** Decides how to continue after a failure. Returns the wait before the next attempt. */
  #recover(error: unknown, session: Session<T>): number {
    this.#options.metrics?.failures.inc({ reflector: this.#options.name });
    this.#isFailing = true;
    this.#tellFault(error);
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
      // The same version would give the same error.
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

  /** One watch, from start to end. Without a version to start at, its first events are the whole state. */
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
    // The server should end the watch itself; this is for a server that does not.
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

  /** A stream of the first state does not accept `"0"`: no version means the newest, a version means not older. */
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
      // Only a server that does not support streamed lists sends a plain bookmark first.
      this.#streams = false;
      throw new InitialEventsCut({ what: this.#options.name });
    }
    if (draft) {
      session.draft = undefined;
      await this.#replace(draft, slice, signal);
    } else session.hasBookmarks = true;
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
    this.#works();
    if (resourceVersion === undefined) return;
    this.#resumeAt = resourceVersion;
    this.#notOlderThan = resourceVersion;
  }

  #works(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#tellFault(undefined);
  }

  #tellFault(error: unknown): void {
    this.#options.onFault?.(error);
  }

  #count(request: "list" | "watch"): void {
    this.#options.metrics?.requests.inc({ reflector: this.#options.name, request });
  }
}

/** What the next step needs to know about one watch. */
class Session<T extends KubeObject> {
  /** The first state while it arrives. */
  draft: StoreDraft<T> | undefined;
  events = 0;
  /** Whether the server has sent a bookmark after the first state, so that more are due. */
  hasBookmarks = false;
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
