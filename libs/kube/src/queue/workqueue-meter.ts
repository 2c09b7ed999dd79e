import type { Metrics } from "@evenkeel/metrics";
import type { Clock } from "@evenkeel/runtime";
import type { workqueueMetrics } from "./workqueue-metrics.ts";

/** Milliseconds between two measurements while keys are being processed. */
const PERIOD = 500;

/** Measures one queue. Without metrics it does nothing. */
export class WorkqueueMeter {
  readonly #labels: { readonly name: string };
  readonly #clock: Clock;
  readonly #metrics: Metrics<typeof workqueueMetrics> | undefined;
  readonly #queuedAt = new Map<string, number>();
  readonly #takenAt = new Map<string, number>();
  #cancel: (() => void) | undefined;

  constructor(name: string, clock: Clock, metrics: Metrics<typeof workqueueMetrics> | undefined) {
    this.#labels = { name };
    this.#clock = clock;
    this.#metrics = metrics;
    metrics?.adds.inc(this.#labels, 0);
    metrics?.retries.inc(this.#labels, 0);
    metrics?.depth.set(this.#labels, 0);
  }

  added(): void {
    this.#metrics?.adds.inc(this.#labels);
  }

  retried(): void {
    this.#metrics?.retries.inc(this.#labels);
  }

  queued(key: string, depth: number): void {
    if (!this.#metrics) return;
    this.#queuedAt.set(key, this.#clock.monotonic());
    this.#metrics.depth.set(this.#labels, depth);
  }

  taken(key: string, depth: number): void {
    if (!this.#metrics) return;
    const now = this.#clock.monotonic();
    this.#metrics.queued.observe(this.#labels, (now - (this.#queuedAt.get(key) ?? now)) / 1000);
    this.#metrics.depth.set(this.#labels, depth);
    this.#queuedAt.delete(key);
    this.#takenAt.set(key, now);
    if (!this.#cancel) this.#measure();
  }

  done(key: string): void {
    if (!this.#metrics) return;
    const now = this.#clock.monotonic();
    this.#metrics.worked.observe(this.#labels, (now - (this.#takenAt.get(key) ?? now)) / 1000);
    this.#takenAt.delete(key);
    if (this.#takenAt.size === 0) this.#measure();
  }

  emptied(): void {
    this.#queuedAt.clear();
    this.#metrics?.depth.set(this.#labels, 0);
  }

  #measure(): void {
    const now = this.#clock.monotonic();
    const took = [...this.#takenAt.values()].map((at) => (now - at) / 1000);
    this.#metrics?.unfinished.set(
      this.#labels,
      took.reduce((sum, seconds) => sum + seconds, 0),
    );
    this.#metrics?.longest.set(this.#labels, Math.max(0, ...took));
    this.#cancel?.();
    this.#cancel = took.length === 0 ? undefined : this.#clock.schedule(PERIOD, () => this.#measure());
  }
}
