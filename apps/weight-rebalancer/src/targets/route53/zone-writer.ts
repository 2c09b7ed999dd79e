import { isDeepStrictEqual } from "node:util";
import { type Backoff, type Clock, fullJitter, isRetryable, type Logger, sleep, toError } from "@evenkeel/runtime";
import { AllZero, Route53Contended, Route53Refused, TargetChanged } from "../../errors.ts";
import type { WriteTerms } from "../weight-target.ts";
import { allZeroChanges, batchSize } from "./change-batch.ts";
import type { ChangeFollower } from "./change-follower.ts";
import { PendingWrite } from "./pending-write.ts";
import { displayName } from "./record-name.ts";
import { findWeighted, type RecordId, type WeightedRecord } from "./weighted-record.ts";
import { whyNotYet } from "./why-not-yet.ts";
import type { ZoneApi } from "./zone-api.ts";
import type { ZoneRecords } from "./zone-records.ts";

export interface ZoneWriterOptions {
  readonly api: ZoneApi;
  readonly records: ZoneRecords;
  readonly follower: ChangeFollower;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /**
   * Milliseconds for which writes are collected. A record that was read longer ago is read again before it is written.
   */
  readonly window: number;
  readonly signal: AbortSignal;
}

/** A write that can be sent, and the record that it replaces. */
interface ReadyWrite {
  readonly write: PendingWrite;
  readonly record: WeightedRecord;
}

/** Attempts to write a record that changes between reading and writing it. */
const ATTEMPTS = 5;

const BACKOFF: Backoff = { base: 1_000, cap: 30_000 };

/**
 * Writes the weights of one zone. Writes that arrive within a window are sent as one batch, which Route 53 applies as a
 * whole or not at all. One batch is in flight at a time. A write that can be retried stays in the queue until its
 * signal aborts.
 *
 * A record is replaced only if it is still as it was read. If another client changed it, Route 53 refuses the batch,
 * and the record is read again before the next attempt.
 */
export class ZoneWriter {
  readonly #options: ZoneWriterOptions;
  /** Writes to send, by record. A write leaves the queue when it is settled or sent. */
  readonly #queue = new Map<string, PendingWrite>();
  #running = false;
  #failures = 0;

  constructor(options: ZoneWriterOptions) {
    this.#options = options;
    options.signal.addEventListener("abort", () => {
      for (const write of this.#queue.values()) write.withdraw("this process is stopping");
      this.#queue.clear();
    });
  }

  get isIdle(): boolean {
    return !this.#running;
  }

  /** Resolves after Route 53 has accepted the weight, or if the record already has it. */
  write(id: RecordId, weight: number, terms: WriteTerms): Promise<void> {
    const write = new PendingWrite(id, weight, terms);
    if (this.#options.signal.aborted) write.withdraw("this process is stopping");
    else if (terms.signal.aborted) this.#giveUp(write);
    else {
      write.onAbort(() => {
        if (this.#isQueued(write)) this.#giveUp(write);
      });
      this.#enqueue(write);
      if (!this.#running) void this.#run();
    }
    return write.done;
  }

  #enqueue(write: PendingWrite): void {
    this.#queue.get(write.key)?.supersede(write.weight);
    this.#queue.set(write.key, write);
  }

  #isQueued(write: PendingWrite): boolean {
    return this.#queue.get(write.key) === write;
  }

  #giveUp(write: PendingWrite): void {
    if (this.#isQueued(write)) this.#queue.delete(write.key);
    const { api } = this.#options;
    if (api.trouble) write.reject(whyNotYet(api, write.signal));
    else write.withdraw("its deadline has passed", write.signal.reason);
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { clock, random, window, signal, log, api } = this.#options;
    this.#running = true;
    try {
      while (this.#queue.size > 0) {
        const wait = this.#failures === 0 ? window : fullJitter(BACKOFF, this.#failures - 1, random);
        await sleep(clock, wait, signal);
        await this.#flush();
      }
    } catch (error) {
      if (!signal.aborted) log.error({ error, zone: api.zone }, "writing a zone failed");
      for (const write of this.#queue.values()) write.reject(toError(error));
      this.#queue.clear();
    } finally {
      this.#running = false;
    }
  }

  /** Sends all queued writes, in as many batches as needed, until one fails with a retryable error. */
  async #flush(): Promise<void> {
    const parts: PendingWrite[][] = [[...this.#queue.values()]];
    for (let part = parts.shift(); part; part = parts.shift()) {
      try {
        parts.unshift(...(await this.#send(part)));
        this.#failures = 0;
      } catch (error) {
        if (!isRetryable(error)) throw error;
        this.#failures += 1;
        return;
      }
    }
  }

  /**
   * Sends one batch. Returns the writes that are still to send, in parts. Rejects if all of them are to be retried
   * later.
   */
  async #send(part: readonly PendingWrite[]): Promise<PendingWrite[][]> {
    const { api, records, window } = this.#options;
    try {
      const names = part.filter((write) => this.#isQueued(write)).map(({ id }) => id.name);
      const refused = await records.refresh(new Set(names), window);
      for (const [name, error] of refused) {
        const ofName = part.filter(({ id }) => id.name === name);
        this.#rejectAll(ofName, error);
      }
      if (this.#ready(part).length === 0) return [];
      await api.admit();
    } catch (error) {
      if (!isRetryable(error)) this.#rejectAll(part, error);
      if (isRetryable(error)) throw error;
      return [];
    }
    const ready = this.#ready(part);
    const batch = ready.slice(0, batchSize(ready.map(({ record }) => record)));
    if (batch.length === 0) return [];
    const rest = ready.slice(batch.length).map(({ write }) => write);
    return [...(await this.#change(batch)), ...(rest.length > 0 ? [rest] : [])];
  }

  /** Returns the writes to send again after a refusal, in parts. */
  async #change(batch: readonly ReadyWrite[]): Promise<PendingWrite[][]> {
    const { api, records, follower, signal } = this.#options;
    const writes = batch.map(({ write }) => write);
    for (const { key } of writes) this.#queue.delete(key);
    try {
      const [only, more] = writes;
      const what = only && more === undefined ? only.target : `zone ${api.zone}`;
      const change = await api.change(
        batch.map(({ write, record }) => ({ before: record, after: { ...record, Weight: write.weight } })),
        what,
      );
      for (const { id, weight } of writes) records.accept(id, weight);
      follower.follow(
        change ?? {},
        writes.map(({ key }) => key),
      );
      for (const write of writes) write.resolve();
      return [];
    } catch (error) {
      if (isRetryable(error) && !signal.aborted) {
        for (const write of writes) this.#requeue(write);
        throw error;
      }
      if (error instanceof Route53Refused) return this.#divide(batch, error);
      for (const write of writes) write.reject(error);
      return [];
    }
  }

  /**
   * Route 53 refuses a batch as a whole and may not say which record is at fault, so the batch is sent again in halves.
   * Every record is read again before, because another client may have changed it meanwhile.
   */
  #divide(batch: readonly ReadyWrite[], error: unknown): PendingWrite[][] {
    for (const { write, record } of batch) {
      if (batch.length === 1) {
        write.refusals += 1;
        write.refused = { record, error };
      }
      this.#options.records.doubt(write.id.name);
      this.#requeue(write);
    }
    const writes = batch.map(({ write }) => write);
    const half = Math.ceil(writes.length / 2);
    return [writes.slice(0, half), writes.slice(half)].filter((part) => part.length > 0);
  }

  /** Queues a write again that was sent without success, unless a later one replaced it or its caller has aborted. */
  #requeue(write: PendingWrite): void {
    const later = this.#queue.get(write.key);
    if (later) write.supersede(later.weight);
    else if (this.#options.signal.aborted) write.withdraw("this process is stopping");
    else if (write.signal.aborted) this.#giveUp(write);
    else this.#queue.set(write.key, write);
  }

  /**
   * The writes that can be sent now, raises first. All others are settled: no longer wanted, record not found, weight
   * already there, refused for good, or the last weight above 0.
   */
  #ready(part: readonly PendingWrite[]): ReadyWrite[] {
    const { records } = this.#options;
    const wanted = part.filter((write) => this.#isQueued(write) && this.#isWanted(write));
    const found = wanted.flatMap((write) => this.#find(write) ?? []);
    const refused = allZeroChanges(
      found.map(({ write }) => write),
      (name) => records.latest(name),
    );
    const ready = found.filter(({ write, record }) => {
      const fault = refused.has(write) ? allZero(write, record.Weight) : whyNot(write, record);
      if (fault === undefined && record.Weight !== write.weight) return true;
      this.#queue.delete(write.key);
      if (fault === undefined) write.resolve();
      else write.reject(fault);
      return false;
    });
    return ready.sort((a, b) => Number(a.write.weight === 0) - Number(b.write.weight === 0));
  }

  #isWanted(write: PendingWrite): boolean {
    try {
      write.lastLook();
      return true;
    } catch (error) {
      this.#queue.delete(write.key);
      write.reject(error);
      return false;
    }
  }

  #find(write: PendingWrite) {
    try {
      return { write, record: findWeighted(write.id, this.#options.records.latest(write.id.name)) };
    } catch (error) {
      this.#queue.delete(write.key);
      write.reject(error);
      return undefined;
    }
  }

  #rejectAll(part: readonly PendingWrite[], error: unknown): void {
    for (const write of part) {
      if (!this.#isQueued(write)) continue;
      this.#queue.delete(write.key);
      write.reject(error);
    }
  }
}

/** Why a record as it is now must not get the weight; undefined if it may, or if it has it. */
function whyNot({ target, weight, expected, refused, refusals }: PendingWrite, record: WeightedRecord): unknown {
  if (record.Weight === weight) return undefined;
  if (expected !== undefined && record.Weight !== expected)
    return new TargetChanged({ target, weight, expected, found: record.Weight });
  // If the record did not change meanwhile, another attempt would be refused too.
  if (refused && isDeepStrictEqual(record, refused.record)) return refused.error;
  if (refusals < ATTEMPTS) return undefined;
  return new Route53Contended({ target, weight, attempts: refusals }, { cause: refused?.error });
}

function allZero({ id, target }: PendingWrite, weight: number) {
  return new AllZero({ target, weight, set: `${displayName(id.name)} ${id.type}` });
}
