import { type Clock, type Term, termUntil } from "@evenkeel/runtime";
import { LeaseLost } from "../errors.ts";

/**
 * The time in which this process may act as leader. It ends `lasts` milliseconds after the last successful renewal was
 * sent. That is before the API server stored it, so before any other process starts to count.
 */
export class HeldTerm {
  readonly term: Term;
  readonly #clock: Clock;
  readonly #lease: string;
  readonly #lasts: number;
  readonly #ending = new AbortController();
  #until: number;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, lease: string, fencingToken: bigint, sentAt: number, lasts: number) {
    this.#clock = clock;
    this.#lease = lease;
    this.#lasts = lasts;
    this.#until = sentAt + lasts;
    this.term = termUntil(this.#ending.signal, fencingToken, () => !this.expired);
    this.#setTimer();
  }

  /** Milliseconds that are left; zero or less when the term is over. */
  get left(): number {
    return this.#until - this.#clock.monotonic();
  }

  /** Whether the term has expired. If so, the signal is aborted when this returns. */
  get expired(): boolean {
    if (this.left > 0) return false;
    this.end(new LeaseLost({ lease: this.#lease, why: `it was not renewed for ${this.#lasts} ms` }));
    return true;
  }

  /** Extends the term after a renewal. Returns false if it had expired before, which is final. */
  renewed(sentAt: number): boolean {
    if (this.expired) return false;
    this.#until = sentAt + this.#lasts;
    if (!this.#ending.signal.aborted) this.#setTimer();
    return true;
  }

  end(reason: unknown): void {
    this.#cancel();
    this.#ending.abort(reason);
  }

  #setTimer(): void {
    this.#cancel();
    this.#cancel = this.#clock.schedule(this.left, () => {
      // A timer may fire a fraction of a millisecond early.
      if (!this.expired) this.#setTimer();
    });
  }
}
