import { nameOfKey } from "@evenkeel/kube";
import type { Metrics } from "@evenkeel/metrics";
import type { Clock } from "@evenkeel/runtime";
import type { Scaled } from "./waker.ts";
import type { metrics } from "../metrics.ts";
import type { WakeRecord } from "../serve/service-history.ts";

export interface WakeTimerOptions {
  readonly clock: Clock;
  readonly metrics: Pick<Metrics<typeof metrics>, "wakeSeconds" | "wakes">;
  /** Number of requests that wait for a Service. */
  readonly pending: (key: string) => number;
  /** Called for each wake and for each update of it. */
  readonly tell: (key: string, wake: WakeRecord) => void;
}

interface Running {
  readonly began: number;
  scaled: number | undefined;
  ready: number | undefined;
  record: WakeRecord;
}

/** Measures wakes by phase, on the replica that holds the requests. Keys are those of Services. */
export class WakeTimer {
  readonly #options: WakeTimerOptions;
  readonly #running = new Map<string, Running>();
  readonly #last = new Map<string, WakeRecord>();

  constructor(options: WakeTimerOptions) {
    this.#options = options;
  }

  /** Milliseconds from the first held request of the last wake to the first ready pod; null if there was none. */
  lastMilliseconds(key: string): number | null {
    const { scaleMs = null, startMs = null } = this.#last.get(key) ?? {};
    return startMs === null ? null : Math.round((scaleMs ?? 0) + startMs);
  }

  /** A request is held and no pod serves. A wake that already had a ready pod is over. */
  begin(key: string): void {
    const running = this.#running.get(key);
    if (running && running.ready === undefined) return;
    const { clock } = this.#options;
    const record = { startedAt: clock.now(), scaleMs: null, startMs: null, connectMs: null, held: 1 };
    this.#running.set(key, { began: clock.monotonic(), scaled: undefined, ready: undefined, record });
    this.#options.tell(key, record);
  }

  /** This process scaled a workload up for requests. */
  count(key: string): void {
    this.#options.metrics.wakes.inc(labelsOf(key));
  }

  /** The result of a scale call. A failed call is followed by another. */
  scaled(key: string, outcome: Scaled): void {
    if (outcome === "woken") this.count(key);
    const running = this.#running.get(key);
    if (!running || running.scaled !== undefined || outcome === "failed") return;
    running.scaled = this.#options.clock.monotonic();
    this.#took(key, running, "scale", running.scaled - running.began);
  }

  ready(key: string): void {
    const running = this.#running.get(key);
    if (!running || running.ready !== undefined) return;
    running.ready = this.#options.clock.monotonic();
    this.#took(key, running, "start", running.ready - (running.scaled ?? running.began));
  }

  /** A held request got its response, which ends the wake. The gate measures this phase. */
  answered(key: string): void {
    const running = this.#running.get(key);
    if (running?.ready === undefined) return;
    this.#running.delete(key);
    this.#note(key, running, { connectMs: this.#options.clock.monotonic() - running.ready });
  }

  /** No request waits any longer. */
  abandon(key: string): void {
    if (this.#running.get(key)?.ready === undefined) this.#running.delete(key);
  }

  /** All waiting requests ended without a response. */
  unanswered(key: string): void {
    this.#running.delete(key);
  }

  /** A Service is no longer managed: its measurements do not apply to a later one. */
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
