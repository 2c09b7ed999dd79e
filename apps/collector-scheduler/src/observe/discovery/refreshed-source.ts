import { type Clock, explain } from "@evenkeel/runtime";
import type { GroupSink, TargetGroup } from "../target-group.ts";
import type { Discovery } from "./start-discovery.ts";

/** What a source answered. */
export interface Reading {
  readonly groups: readonly TargetGroup[];
  /** The parts that failed, such as one of several files: what they gave before stays. */
  readonly failed?: readonly FailedPart[];
}

export interface FailedPart {
  /** Whether a group that the source gave before is of this part. */
  readonly owns: (source: string) => boolean;
  readonly message: string;
}

export interface RefreshOptions {
  /**
   * Milliseconds from the start of one reading to the start of the next; also the longest that one may take, up to a
   * minute.
   */
  readonly interval: number;
  readonly read: (signal: AbortSignal) => Promise<Reading>;
  readonly sink: GroupSink;
  readonly clock: Clock;
}

/** Whatever a configuration asks for, a source is read at most once in this time, in milliseconds. */
const SHORTEST = 1000;
/** Milliseconds that a reading may take, however rarely the source is read: one that hangs is to be seen. */
const LONGEST = 60_000;
/** From the start of one reading to the next when a change was noticed, in milliseconds: changes come in bursts. */
const SOON = 100;
/** Between two readings until the first that succeeds, in milliseconds. */
const FIRST = 5000;

/** Reads a source again and again. While it fails, what it gave last stays in force. */
export class RefreshedSource implements Discovery {
  readonly #options: RefreshOptions;
  readonly #interval: number;
  readonly #stopping = new AbortController();
  /** Sources of the groups that were told. */
  #told = new Set<string>();
  #goodAt: number | undefined;
  #isReading = false;
  #isStale = false;
  #startedAt = -Infinity;
  #cancel: () => void = () => undefined;

  constructor(options: RefreshOptions) {
    this.#options = options;
    this.#interval = Math.max(SHORTEST, options.interval);
    void this.#read();
  }

  stop(): void {
    this.#stopping.abort();
    this.#cancel();
  }

  /** Reads soon, since something may have changed. */
  refresh(): void {
    this.#isStale = true;
    if (!this.#isReading) this.#schedule(this.#startedAt + SOON);
  }

  async #read(): Promise<void> {
    const { read, sink, clock } = this.#options;
    this.#isReading = true;
    this.#isStale = false;
    this.#startedAt = clock.monotonic();
    const deadline = new AbortController();
    const cancel = clock.schedule(Math.min(LONGEST, this.#interval), () =>
      deadline.abort(new Error("the source did not answer in time")),
    );
    try {
      const reading = await read(AbortSignal.any([this.#stopping.signal, deadline.signal]));
      if (!this.#isStopped) this.#take(reading);
    } catch (error) {
      if (!this.#isStopped)
        sink.health(this.#health(explain(deadline.signal.aborted ? deadline.signal.reason : error)));
    } finally {
      cancel();
      this.#isReading = false;
    }
    if (this.#isStopped) return;
    this.#schedule(this.#startedAt + this.#wait);
  }

  #take({ groups, failed = [] }: Reading): void {
    const { sink, clock } = this.#options;
    const now = new Set(groups.map(({ source }) => source));
    const missing = [...this.#told].filter((source) => !now.has(source));
    const kept = missing.filter((source) => failed.some(({ owns }) => owns(source)));
    const gone = missing.filter((source) => !kept.includes(source));
    this.#told = new Set([...now, ...kept]);
    sink.update([...groups, ...gone.map((source) => ({ source, labels: new Map<string, string>(), targets: [] }))]);
    if (failed.length === 0) this.#goodAt = clock.now();
    sink.health(this.#health(failed.length === 0 ? undefined : failed.map(({ message }) => message).join("; ")));
  }

  #health(fault: string | undefined) {
    return {
      answered: this.#goodAt !== undefined,
      ...(this.#goodAt !== undefined && { goodAt: this.#goodAt }),
      ...(fault !== undefined && { fault }),
    };
  }

  get #wait(): number {
    if (this.#isStale) return SOON;
    return this.#goodAt === undefined ? Math.min(FIRST, this.#interval) : this.#interval;
  }

  #schedule(at: number): void {
    this.#cancel();
    const { clock } = this.#options;
    this.#cancel = clock.schedule(Math.max(0, at - clock.monotonic()), () => void this.#read());
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }
}
