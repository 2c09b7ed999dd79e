import { WatcherTooSlow } from "../errors.ts";
import { type Decision, type DecisionFilter, type DecisionSink, type DecisionSource, matches } from "./decision.ts";

/** Keeps the last decisions in memory. */
export class DecisionRing implements DecisionSink, DecisionSource {
  readonly #capacity: number;
  readonly #decisions: Decision[] = [];
  readonly #watchers = new Set<Watcher>();

  constructor(capacity = 1000) {
    this.#capacity = capacity;
  }

  record(decision: Decision): void {
    this.#decisions.push(decision);
    if (this.#decisions.length > this.#capacity) this.#decisions.shift();
    for (const watcher of this.#watchers) watcher.offer(decision);
  }

  list(filter: DecisionFilter, limit: number): Promise<readonly Decision[]> {
    const found: Decision[] = [];
    for (let index = this.#decisions.length - 1; index >= 0 && found.length < limit; index--) {
      const decision = this.#decisions[index];
      if (decision && matches(filter, decision)) found.push(decision);
    }
    return Promise.resolve(found);
  }

  watch(filter: DecisionFilter, signal: AbortSignal): AsyncIterable<Decision> {
    const end = () => watcher.close("ended");
    const watcher = new Watcher(filter, this.#capacity, () => {
      this.#watchers.delete(watcher);
      signal.removeEventListener("abort", end);
    });
    // Registered here, not at the first read: what happens between the call and the read must not be missed.
    this.#watchers.add(watcher);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    return drain(watcher);
  }
}

async function* drain(watcher: Watcher): AsyncGenerator<Decision> {
  try {
    for (let next = await watcher.next(); next; next = await watcher.next()) yield next;
  } finally {
    watcher.close("ended");
  }
}

class Watcher {
  readonly #filter: DecisionFilter;
  readonly #limit: number;
  readonly #leave: () => void;
  readonly #waiting: Decision[] = [];
  #wake: () => void = () => undefined;
  #state: "open" | "ended" | "overrun" = "open";

  /** `leave` is called once, when the watcher wants nothing more. */
  constructor(filter: DecisionFilter, limit: number, leave: () => void) {
    this.#filter = filter;
    this.#limit = limit;
    this.#leave = leave;
  }

  offer(decision: Decision): void {
    if (!matches(this.#filter, decision)) return;
    if (this.#waiting.length >= this.#limit) {
      this.close("overrun");
    } else {
      this.#waiting.push(decision);
      this.#wake();
    }
  }

  close(state: "ended" | "overrun"): void {
    if (this.#state !== "open") return;
    this.#state = state;
    this.#waiting.length = 0;
    this.#leave();
    this.#wake();
  }

  async next(): Promise<Decision | undefined> {
    for (;;) {
      if (this.#state === "overrun") throw new WatcherTooSlow({ limit: this.#limit });
      if (this.#state === "ended") return undefined;
      const decision = this.#waiting.shift();
      if (decision) return decision;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
