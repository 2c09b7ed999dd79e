import type { Clock } from "../clock.ts";

interface Timer {
  readonly due: number;
  readonly task: () => void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #wall: number;
  #monotonic = 0;
  readonly #timers = new Set<Timer>();

  constructor(start: string | number = "2026-01-01T00:00:00Z") {
    this.#wall = new Date(start).getTime();
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  schedule(delay: number, task: () => void): () => void {
    const timer: Timer = { due: this.#monotonic + Math.max(0, delay), task };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers wait: a test can see that nothing was left behind. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves both clocks, running each timer at its own time and letting what it resolved run before the next. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#monotonic + milliseconds;
    await settle();
    for (let timer = this.#next(end); timer; timer = this.#next(end)) {
      this.#move(timer.due);
      this.#timers.delete(timer);
      timer.task();
      await settle();
    }
    this.#move(end);
  }

  /** Moves the wall clock alone, as an operator or NTP does. */
  jump(milliseconds: number): void {
    this.#wall += milliseconds;
  }

  #move(monotonic: number): void {
    this.#wall += monotonic - this.#monotonic;
    this.#monotonic = monotonic;
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) if (timer.due <= end && timer.due < (next?.due ?? Infinity)) next = timer;
    return next;
  }
}

/** Lets every promise that can settle without I/O settle: an immediate runs after the whole microtask queue. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
