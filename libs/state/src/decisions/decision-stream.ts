import { counter, type MetricRegistry, type Metrics } from "@evenkeel/metrics";
import {
  type Clock,
  type Component,
  type Decision,
  type DecisionFilter,
  type DecisionSink,
  type DecisionSource,
  isRetryable,
  type Logger,
  matches,
  runtimeErrors,
  sleep,
} from "@evenkeel/runtime";
import { parseDecision } from "./decision-text.ts";
import { SERVICE_OBJECT } from "../keys.ts";
import type { State } from "../state.ts";

const STREAM = "decisions";

/** How long to wait before a failed append is retried, in milliseconds. */
const RETRY = 1000;

const decisionStreamMetrics = {
  dropped: counter(
    "evenkeel_state_dropped_decisions_total",
    "Decisions that never reached the shared stream, because it was away for too long or refused them.",
    {},
  ),
  unreadable: counter(
    "evenkeel_state_unreadable_decisions_total",
    "Entries of the shared stream that were left out, because they are no decisions.",
    {},
  ),
};

export interface DecisionStreamOptions {
  readonly state: State;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricRegistry;
  /** How many decisions the stream keeps, and how many wait in memory while the state is away. */
  readonly capacity?: number;
  /**
   * What `list` answers from while the state is away, such as this process's own decisions. Without it `list` rejects
   * then.
   */
  readonly whileAway?: Pick<DecisionSource, "list">;
}

/**
 * The decisions of all replicas, in shared state. Recording is best effort: no caller waits for it. If too many
 * decisions are queued, the oldest are dropped. If an append gets no answer, it is repeated. Readers see each decision
 * once.
 */
export class DecisionStream implements DecisionSink, DecisionSource, Component {
  readonly name = "decision stream";
  readonly #state: State;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #metrics: Metrics<typeof decisionStreamMetrics>;
  readonly #capacity: number;
  readonly #whileAway: Pick<DecisionSource, "list"> | undefined;
  readonly #waiting: Decision[] = [];
  readonly #stopping = new AbortController();
  #draining = false;
  #drained: Promise<void> = Promise.resolve();

  constructor({ state, clock, log, registry, capacity = 1000, whileAway }: DecisionStreamOptions) {
    this.#whileAway = whileAway;
    this.#state = state;
    this.#clock = clock;
    this.#log = log.child({ component: "decision stream" });
    this.#metrics = registry.register(decisionStreamMetrics);
    this.#capacity = capacity;
  }

  record(decision: Decision): void {
    this.#waiting.push(decision);
    if (this.#waiting.length > this.#capacity) {
      this.#waiting.shift();
      this.#metrics.dropped.inc({});
    }
    if (!this.#draining) this.#drained = this.#drain();
  }

  async list(filter: DecisionFilter, limit: number): Promise<readonly Decision[]> {
    if (!this.#state.available && this.#whileAway) return this.#whileAway.list(filter, limit);
    const found = new Map<string, Decision>();
    for (const { text } of await this.#state.streams.newest(SERVICE_OBJECT, STREAM, this.#capacity)) {
      if (found.size >= limit) break;
      const decision = this.#parse(text);
      if (decision && matches(filter, decision) && !found.has(decision.id)) found.set(decision.id, decision);
    }
    return [...found.values()];
  }

  watch(filter: DecisionFilter, signal: AbortSignal): AsyncIterable<Decision> {
    return this.#select(filter, this.#state.streams.tail(SERVICE_OBJECT, STREAM, "end", signal));
  }

  /** Gives what still waits until `deadline` to arrive. */
  async stop(deadline: AbortSignal): Promise<void> {
    if (!this.#state.available) this.#stopping.abort();
    deadline.addEventListener("abort", () => this.#stopping.abort(), { once: true });
    await this.#drained;
  }

  async *#select(filter: DecisionFilter, items: ReturnType<State["streams"]["tail"]>): AsyncGenerator<Decision> {
    const seen = new Set<string>();
    for await (const item of items) {
      // The stream was cut behind the reader: it is for the reader to list afresh.
      if ("gap" in item) throw new runtimeErrors.WatcherTooSlow({ limit: this.#capacity });
      const decision = this.#parse(item.text);
      if (!decision || seen.has(decision.id)) continue;
      seen.add(decision.id);
      const [oldest] = seen;
      if (oldest !== undefined && seen.size > this.#capacity) seen.delete(oldest);
      if (matches(filter, decision)) yield decision;
    }
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    for (let [next] = this.#waiting; next && !this.#stopping.signal.aborted; [next] = this.#waiting) {
      const settled = await this.#append(next);
      // It may have been pushed out meanwhile.
      if (settled && this.#waiting[0] === next) this.#waiting.shift();
      if (!settled) await this.#returned();
    }
    this.#draining = false;
  }

  /** False when it should be retried. Never rejects. */
  async #append(decision: Decision): Promise<boolean> {
    try {
      await this.#state.streams.append(SERVICE_OBJECT, STREAM, JSON.stringify(decision), this.#capacity);
    } catch (error) {
      if (isRetryable(error)) return false;
      this.#log.warn({ error, decision: decision.id }, "a decision was not added to the shared stream");
      this.#metrics.dropped.inc({});
    }
    return true;
  }

  /** Resolves when the state is back, after a while, or when stopping. */
  async #returned(): Promise<void> {
    const back = new AbortController();
    const unlisten = this.#state.onAvailability(() => back.abort());
    await sleep(this.#clock, RETRY, AbortSignal.any([back.signal, this.#stopping.signal])).catch(() => undefined);
    unlisten();
  }

  #parse(text: string): Decision | undefined {
    const decision = parseDecision(text);
    if (!decision) this.#metrics.unreadable.inc({});
    return decision;
  }
}
