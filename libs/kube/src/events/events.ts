import type { Metrics } from "@evenkeel/metrics";
import { aborted, type Clock, type Component, type Logger, type Rate, TokenBucket } from "@evenkeel/runtime";
import { NotFound } from "../errors.ts";
import type { eventMetrics } from "./event-metrics.ts";
import { eventName, withinBytes } from "./event-text.ts";
import { microTime } from "../objects/micro-time.ts";
import type { ObjectReference } from "../objects/reference.ts";
import type { Resource } from "../objects/resource.ts";
import type { Event } from "../objects/resource-types.ts";

/** Something that happened to an object. */
export interface Happening {
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
  readonly type: "Normal" | "Warning";
  /** One CamelCase word of a closed list. */
  readonly reason: string;
  /** What was done. */
  readonly action: string;
  /** One sentence for a person, cut to 1024 bytes. */
  readonly note: string;
}

export interface EventLimits {
  /** New Events per object. */
  readonly perObject: Rate;
  /** Requests to the API server. */
  readonly overall: Rate;
  /** Maximum waiting Events; more are dropped. */
  readonly queue: number;
  /** Maximum objects, and maximum series, that are remembered. */
  readonly memory: number;
  /** Milliseconds after which a repeat is a new Event. */
  readonly series: number;
  /** Milliseconds for which repeats are collected before their count is written. */
  readonly gather: number;
}

const eventLimits: EventLimits = {
  // client-go's burst: the first sleep and wake of a service alone has eleven reasons.
  perObject: { perSecond: 1 / 30, burst: 25 },
  overall: { perSecond: 5, burst: 25 },
  queue: 1000,
  memory: 4096,
  series: 360_000,
  gather: 10_000,
};

export interface EventRecorderOptions {
  readonly events: Resource<Event>;
  /** A qualified name, such as `evenkeel.io/eviction-planner`. */
  readonly controller: string;
  /** This process, such as the pod's name. */
  readonly instance: string;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics?: Metrics<typeof eventMetrics> | undefined;
  readonly limits?: Partial<EventLimits>;
}

/** The rate limit of one object. */
interface ObjectBucket {
  readonly bucket: TokenBucket;
  /** Monotonic time. */
  readonly lastSeen: number;
}

/** An Event, and how often it was recorded. */
interface Series {
  readonly happening: Happening;
  name: string;
  count: number;
  /** Wall time. */
  lastAt: number;
  /** Monotonic time. */
  lastSeen: number;
  isCreated: boolean;
  isQueued: boolean;
}

/**
 * Writes events.k8s.io/v1 Events in the background, best effort: recording never throws and never waits, and Events
 * that cannot be written in time are dropped and counted. Repeats within the series time raise the count of the first
 * Event.
 */
export class EventRecorder implements Component {
  readonly name = "events";
  readonly #options: EventRecorderOptions;
  readonly #limits: EventLimits;
  readonly #overall: TokenBucket;
  readonly #objects = new Map<string, ObjectBucket>();
  readonly #series = new Map<string, Series>();
  readonly #repeated = new Set<Series>();
  readonly #queue: Series[] = [];
  readonly #ending = new AbortController();
  #writing: Promise<void> | undefined;
  #cancelGathering: (() => void) | undefined;
  #isFailing = false;
  #sequence = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#limits = { ...eventLimits, ...options.limits };
    this.#overall = new TokenBucket(options.clock, this.#limits.overall);
  }

  record(happening: Happening): void {
    const { clock } = this.#options;
    if (this.#ending.signal.aborted) {
      this.#count("stopped");
      return;
    }
    const key = seriesKey(happening);
    const known = this.#series.get(key);
    const [lastAt, lastSeen] = [clock.now(), clock.monotonic()];
    this.#forgetBefore(lastSeen);
    if (known && lastSeen - known.lastSeen < this.#limits.series) {
      Object.assign(known, { lastAt, lastSeen, count: known.count + 1 });
      this.#gather(known);
      return;
    }
    if (!this.#objectBucket(happening.regarding).tryTake()) {
      this.#count("object_limit");
      return;
    }
    const series = { happening, name: "", count: 1, lastAt, lastSeen, isCreated: false, isQueued: false };
    if (this.#enqueue(series)) remember(this.#series, key, series, this.#limits.memory);
  }

  /** Writes the waiting Events, as far as the deadline allows. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#flushRepeats();
    while (this.#writing && !deadline.aborted) {
      await Promise.race([this.#writing, aborted(deadline)]).catch(() => undefined);
      this.#flushRepeats();
    }
    this.#ending.abort();
    await this.#writing;
    this.#cancelGathering?.();
    this.#queue.splice(0).forEach(() => this.#count("stopped"));
  }

  #objectBucket(object: ObjectReference): TokenBucket {
    const key = JSON.stringify([object.kind, object.namespace, object.name]);
    const { clock } = this.#options;
    const bucket = this.#objects.get(key)?.bucket ?? new TokenBucket(clock, this.#limits.perObject);
    remember(this.#objects, key, { bucket, lastSeen: clock.monotonic() }, this.#limits.memory);
    return bucket;
  }

  /** Drops series that are over, and objects whose rate limit is unused again. */
  #forgetBefore(now: number): void {
    const { series, perObject } = this.#limits;
    forgetOlder(this.#series, now - series);
    forgetOlder(this.#objects, now - (perObject.burst / perObject.perSecond) * 1000);
  }

  /** How many objects and series are remembered. */
  get remembered(): number {
    return this.#objects.size + this.#series.size;
  }

  #gather(series: Series): void {
    this.#repeated.add(series);
    this.#cancelGathering ??= this.#options.clock.schedule(this.#limits.gather, () => this.#flushRepeats());
  }

  #flushRepeats(): void {
    this.#cancelGathering?.();
    this.#cancelGathering = undefined;
    for (const series of this.#repeated) this.#enqueue(series);
    this.#repeated.clear();
  }

  /** Returns whether it will be written. */
  #enqueue(series: Series): boolean {
    if (series.isQueued) return true;
    if (this.#queue.length >= this.#limits.queue) {
      this.#count("queue_full");
      return false;
    }
    series.isQueued = true;
    this.#queue.push(series);
    this.#writing ??= this.#writeAll();
    return true;
  }

  async #writeAll(): Promise<void> {
    const { signal } = this.#ending;
    for (let series = this.#queue[0]; series; series = this.#queue[0]) {
      await this.#overall.take(signal).catch(() => undefined);
      if (signal.aborted) break;
      this.#queue.shift();
      series.isQueued = false;
      await this.#tryWrite(series, signal);
    }
    this.#writing = undefined;
  }

  async #tryWrite(series: Series, signal: AbortSignal): Promise<void> {
    try {
      await this.#write(series, signal);
      this.#isFailing = false;
    } catch (error) {
      this.#count("failed");
      // One line for an outage, not one for each Event.
      const level = this.#isFailing ? "debug" : "warn";
      this.#isFailing = true;
      this.#options.log[level]({ error, object: series.happening.regarding.name }, "an Event could not be written");
    }
  }

  async #write(series: Series, signal: AbortSignal): Promise<void> {
    const { events } = this.#options;
    const namespace = namespaceOf(series.happening);
    if (series.isCreated) {
      const body = { series: { count: series.count, lastObservedTime: microTime(series.lastAt) } };
      const object = { namespace, name: series.name };
      const written = await events.patch(object, { type: "merge", body }, { signal }).catch(absentIfNotFound);
      if (written) {
        this.#count("counted");
        return;
      }
      // The API server expires Events: repeats then count from a new one.
      series.count = 1;
    }
    series.name = eventName(series.happening.regarding.name, this.#unique());
    await events.create(this.#eventOf(series, namespace), { signal });
    series.isCreated = true;
    this.#count("created");
    if (series.count > 1) this.#gather(series);
  }

  #eventOf({ happening, name, lastAt }: Series, namespace: string): Event {
    const { regarding, related, type, reason, action, note } = happening;
    return {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { namespace, name },
      eventTime: microTime(lastAt),
      reportingController: this.#options.controller,
      reportingInstance: this.#options.instance.slice(0, 128),
      type,
      reason: reason.slice(0, 128),
      action: action.slice(0, 128),
      note: withinBytes(note, 1024),
      regarding,
      ...(related ? { related } : {}),
    };
  }

  /**
   * Differs from other names of this process by a sequence, from those of other processes by time and a random part.
   */
  #unique(): string {
    const { clock, random } = this.#options;
    const chance = Math.floor(random() * 2 ** 20);
    this.#sequence = (this.#sequence + 1) % 2 ** 12;
    return clock.now().toString(16) + hex(chance, 5) + hex(this.#sequence, 3);
  }

  #count(outcome: "created" | "counted" | "object_limit" | "queue_full" | "failed" | "stopped"): void {
    this.#options.metrics?.events.inc({ outcome });
  }
}

/** Events about cluster-scoped objects live in `default`. */
function namespaceOf({ regarding }: Happening): string {
  return regarding.namespace ?? "default";
}

/** With the note, because the API server does not allow to change it: a new message needs a new Event. */
function seriesKey({ regarding, related, type, reason, action, note }: Happening): string {
  return JSON.stringify([type, reason, action, note, regarding, related]);
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

/** Drops entries from the oldest on, up to the first that was seen after `time`. */
function forgetOlder(memory: Map<string, { readonly lastSeen: number }>, time: number): void {
  for (const [key, { lastSeen }] of memory) {
    if (lastSeen > time) return;
    memory.delete(key);
  }
}

/** Keeps the `limit` keys that were used last. */
function remember<T>(memory: Map<string, T>, key: string, value: T, limit: number): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size <= limit) return;
  const [oldest] = memory.keys();
  if (oldest !== undefined) memory.delete(oldest);
}

function absentIfNotFound(error: unknown): undefined {
  if (error instanceof NotFound) return undefined;
  throw error;
}
