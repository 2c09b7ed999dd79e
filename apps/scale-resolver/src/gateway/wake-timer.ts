import { nameOfKey } from "@evenkeel/kube";
import type { Metrics } from "@evenkeel/metrics";
import type { Clock } from "@evenkeel/runtime";
import type { Scaled } from "./waker.ts";
import type { metrics } from "../metrics.ts";
import type { WakeRecord } from "../serve/service-history.ts";

export interface WakeTimerOptions {
  readonly clock: Clock;
  readonly metrics: Pick<Metrics<typeof metrics>, "wakeSeconds" | "wakes">;
  /** How many requests wait for a Service. */
  readonly pending: (key: string) => number;
  /** Hears of each wake, and of more about it. */
  readonly tell: (key: string, wake: WakeRecord) => void;
}

interface Running {
  readonly began: number;
  scaled: number | undefined;
  ready: number | undefined;
  record: WakeRecord;
}

/** Takes the time of wakes, phase by phase, on the replica that holds the requests. Keys are those of Services. */
export class WakeTimer {
  readonly #options: WakeTimerOptions;
  readonly #running = new Map<string, Running>();
  readonly #last = new Map<string, WakeRecord>();

  constructor(options: WakeTimerOptions) {
    this.#options = options;
  }

  /** From the first held request of the last wake to the first ready pod; null where there was none. */
  lastMilliseconds(key: string): number | null {
    const { scaleMs = null, startMs = null } = this.#last.get(key) ?? {};
    return startMs === null ? null : Math.round((scaleMs ?? 0) + startMs);
  }

  /** A request is held, and nothing serves: a wake that had come to a ready pod is over. */
  begin(key: string): void {
    const running = this.#running.get(key);
    if (running && running.ready === undefined) return;
    const { clock } = this.#options;
    const record = { startedAt: clock.now(), scaleMs: null, startMs: null, connectMs: null, held: 1 };
    this.#running.set(key, { began: clock.monotonic(), scaled: undefined, ready: undefined, record });
    this.#options.tell(key, record);
  }

  /** A workload was scaled up for requests, whoever of this process made the call. */
  count(key: string): void {
    this.#options.metrics.wakes.inc(labelsOf(key));
  }

  /** What came of a call that scales. One that failed is followed by another. */
  scaled(key: string, outcome: Scaled): void {
    if (outcome === "woken") this.count(key);
    const running = this.#running.get(key);
    if (!running || running.scaled !== undefined || outcome === "failed") return;
    running.scaled = this.#options.clock.monotonic();
    this.#took(key, running, "scale", running.scaled - running.began);
  }

  /** A pod is ready. */
  ready(key: string): void {
    const running = this.#running.get(key);
    if (!running || running.ready !== undefined) return;
    running.ready = this.#options.clock.monotonic();
    this.#took(key, running, "start", running.ready - (running.scaled ?? running.began));
  }

  /** A held request was answered: the wake is over. The gate measures this part. */
  answered(key: string): void {
    const running = this.#running.get(key);
    if (running?.ready === undefined) return;
    this.#running.delete(key);
    this.#note(key, running, { connectMs: this.#options.clock.monotonic() - running.ready });
  }

  /** Nobody waits any more. */
  abandon(key: string): void {
    if (this.#running.get(key)?.ready === undefined) this.#running.delete(key);
  }

  /** Whoever had waited is gone without an answer. */
  unanswered(key: string): void {
    this.#running.delete(key);
  }

  /** Nobody looks after a Service any more: whoever does next begins without its past. */
  forget(key: string): void {
    this.#running.delete(key);
    this.#last.delete(key);
  }

  #took(key: string, running: Running, phase: "scale" | "start", milliseconds: number): void {
    this.#options.metrics.wakeSeconds.observe({ ...labelsOf(key), phase }, milliseconds / 1000);
    this.#note(key, running, phase === "scale" ? { scaleMs: milliseconds } : { startMs: milliseconds });
  }

  #note(key: string, running: Running, more: Partial<WakeRecord>): void {
    const { pending, tell } = this.#options;
    const held = Math.max(running.record.held, pending(key));
    running.record = { ...running.record, ...more, held };
    this.#last.set(key, running.record);
    tell(key, running.record);
  }
}

function labelsOf(key: string): { readonly namespace: string; readonly service: string } {
  const { namespace = "", name } = nameOfKey(key);
  return { namespace, service: name };
}
