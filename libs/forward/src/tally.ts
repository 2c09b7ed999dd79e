import type { MetricRegistry } from "@evenkeel/metrics";
import type { Clock } from "@evenkeel/runtime";
import type { Failure } from "./destination.ts";
import { forwardMetrics, type ForwardMetrics } from "./metrics.ts";

/** Milliseconds for which counts are collected before the registry gets them. */
const GATHER = 250;

const protocols = ["http1", "h2", "tcp"] as const;
const answers = ["2xx", "3xx", "4xx", "5xx", "tunnel", "left", "broken"] as const;
const kinds = ["exchange", "tunnel", "client", "upstream"] as const;
const failures = ["connect", "reset", "deadline", "protocol"] as const;
const connectionLimits = ["total", "share"] as const;

export type Answer = (typeof answers)[number];
export type OpenKind = (typeof kinds)[number];
export type TalliedProtocol = (typeof protocols)[number];

/**
 * Counts in plain numbers, which cost nothing per request, and writes them to the registry four times a second while
 * something changes. `pour` updates the registry at once.
 */
export class Tally {
  readonly open = { exchange: 0, tunnel: 0, client: 0, upstream: 0 };
  readonly #ended = protocols.map(() => answers.map(() => 0));
  readonly #failed = failures.map(() => 0);
  readonly #refused = { total: 0, share: 0 };
  #retries = 0;
  #malformed = 0;
  readonly #metrics: ForwardMetrics;
  readonly #clock: Clock;
  readonly #labels = protocols.map((protocol) => ({ protocol }));
  #cancel: (() => void) | undefined;

  constructor(registry: MetricRegistry, clock: Clock) {
    this.#metrics = registry.register(forwardMetrics);
    this.#clock = clock;
    this.pour();
  }

  opened(kind: OpenKind): void {
    this.open[kind] += 1;
    this.#changed();
  }

  closed(kind: OpenKind): void {
    this.open[kind] -= 1;
    this.#changed();
  }

  ended(protocol: TalliedProtocol, answer: Answer): void {
    const counts = this.#ended[protocols.indexOf(protocol)] as number[];
    const index = answers.indexOf(answer);
    counts[index] = (counts[index] ?? 0) + 1;
    this.#changed();
  }

  took(protocol: TalliedProtocol, milliseconds: number): void {
    this.#metrics.duration.observe(
      this.#labels[protocols.indexOf(protocol)] as { protocol: "http1" },
      milliseconds / 1000,
    );
  }

  failed(kind: Failure["kind"]): void {
    const index = failures.indexOf(kind);
    this.#failed[index] = (this.#failed[index] ?? 0) + 1;
    this.#changed();
  }

  /** A connection was closed at once, because too many are open. */
  refused(limit: (typeof connectionLimits)[number]): void {
    this.#refused[limit] += 1;
    this.#changed();
  }

  retried(): void {
    this.#retries += 1;
    this.#changed();
  }

  malformed(): void {
    this.#malformed += 1;
    this.#changed();
  }

  pour(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    for (const kind of kinds) this.#metrics.open.set({ kind }, this.open[kind]);
    protocols.forEach((protocol, row) =>
      answers.forEach((answer, column) => {
        const counts = this.#ended[row] as number[];
        const by = counts[column] ?? 0;
        if (by > 0) this.#metrics.requests.inc({ protocol, answer }, by);
        counts[column] = 0;
      }),
    );
    failures.forEach((kind, index) => {
      const by = this.#failed[index] ?? 0;
      if (by > 0) this.#metrics.failures.inc({ kind }, by);
      this.#failed[index] = 0;
    });
    for (const limit of connectionLimits) {
      if (this.#refused[limit] > 0) this.#metrics.connectionsRefused.inc({ limit }, this.#refused[limit]);
      this.#refused[limit] = 0;
    }
    if (this.#retries > 0) this.#metrics.retries.inc({}, this.#retries);
    if (this.#malformed > 0) this.#metrics.malformed.inc({}, this.#malformed);
    this.#retries = this.#malformed = 0;
  }

  #changed(): void {
    this.#cancel ??= this.#clock.schedule(GATHER, () => this.pour());
  }
}
