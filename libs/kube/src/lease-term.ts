import type { Clock, Term } from "@evenkeel/runtime";
import { LeaseLost } from "./errors.ts";

/** A term that can be asked, at the moment of an act, whether it still is one. */
export interface LeaseTerm extends Term {
  /**
   * Whether the lease is still this process's by the clock. A process that was stopped and goes on (SIGSTOP, a frozen
   * node) may handle an answer before the timer that aborts `signal`; this looks at the time itself, and aborts
   * `signal` if it is over.
   */
  readonly held: () => boolean;
}

/**
 * Whether a term still lasts, judged by the clock where the leadership can. Ask before an act that no fencing token
 * guards.
 */
export function isHeld(term: Term): boolean {
  return "held" in term && typeof term.held === "function" ? (term as LeaseTerm).held() : !term.signal.aborted;
}

/**
 * The time in which this process may act as leader. It ends `lasts` milliseconds after the last renewal that succeeded
 * was sent: from before the API server can have stored it, hence before any other process counts from it.
 */
export class HeldTerm {
  readonly term: LeaseTerm;
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
    this.term = {
      signal: this.#ending.signal,
      fencingToken,
      held: () => !this.expired && !this.#ending.signal.aborted,
    };
    this.#setTimer();
  }

  /** Milliseconds that are left; not more than zero when it is over. */
  get left(): number {
    return this.#until - this.#clock.monotonic();
  }

  /** Whether it ran out. If so, the signal is aborted by the time this returns. */
  get expired(): boolean {
    if (this.left > 0) return false;
    this.end(new LeaseLost({ lease: this.#lease, why: `it could not be renewed for ${this.#lasts} ms` }));
    return true;
  }

  /** Prolongs the time after a renewal; what ran out stays so. Returns whether it had not. */
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
