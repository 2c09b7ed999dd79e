import type { Clock } from "@evenkeel/runtime";

/** A timer of a wheel. It is linked into a slot without further objects, because every request has one. */
export abstract class Timed {
  /** @internal */ earlier: Timed | undefined = undefined;
  /** @internal */ later: Timed | undefined = undefined;
  /** @internal */ slot = -1;
  /** @internal When to wake it, in the wheel's ticks. */ dueTick = 0;

  /** The time has passed. The timer is no longer in the wheel and may be added again. */
  abstract expire(): void;
}

/** Milliseconds of a tick: deadlines are accurate to two of them. */
export const TICK = 25;
const SLOTS = 512;

/**
 * Hundreds of thousands of deadlines with one timer, which runs only while there are any. Setting and clearing costs a
 * few assignments. A deadline never expires early.
 */
export class Wheel {
  readonly #clock: Clock;
  readonly #slots: (Timed | undefined)[] = new Array<Timed | undefined>(SLOTS).fill(undefined);
  #tick = 0;
  #count = 0;
  #began = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of deadlines. */
  get size(): number {
    return this.#count;
  }

  /** Whether its timer runs. */
  get turning(): boolean {
    return this.#cancel !== undefined;
  }

  /** Expires `timed` after `delay` milliseconds. Replaces its previous deadline. */
  set(timed: Timed, delay: number): void {
    if (timed.slot >= 0) this.#unlink(timed);
    const now = this.#clock.monotonic();
    if (!this.#cancel) {
      this.#began = now;
      this.#tick = 0;
      this.#schedule();
    }
    // Counted from now, because the tick of the wheel may be late if the event loop was busy.
    timed.dueTick = Math.max(this.#tick + 1, Math.ceil((now - this.#began + delay) / TICK));
    const slot = timed.dueTick % SLOTS;
    const first = this.#slots[slot];
    timed.slot = slot;
    timed.earlier = undefined;
    timed.later = first;
    if (first) first.earlier = timed;
    this.#slots[slot] = timed;
    this.#count += 1;
  }

  clear(timed: Timed): void {
    if (timed.slot >= 0) this.#unlink(timed);
  }

  #unlink(timed: Timed): void {
    const { earlier, later, slot } = timed;
    if (earlier) earlier.later = later;
    else this.#slots[slot] = later;
    if (later) later.earlier = earlier;
    timed.earlier = timed.later = undefined;
    timed.slot = -1;
    this.#count -= 1;
  }

  #schedule(): void {
    this.#cancel = this.#clock.schedule(TICK, () => this.#advance());
  }

  #advance(): void {
    const now = Math.floor((this.#clock.monotonic() - this.#began) / TICK);
    while (this.#tick < now && this.#count > 0) {
      this.#tick += 1;
      this.#wake(this.#tick);
    }
    this.#tick = Math.max(this.#tick, now);
    if (this.#count > 0) this.#schedule();
    else this.#cancel = undefined;
  }

  #wake(tick: number): void {
    const due: Timed[] = [];
    for (let timed = this.#slots[tick % SLOTS]; timed; timed = timed.later) if (timed.dueTick <= tick) due.push(timed);
    for (const timed of due) {
      // Another `expire` may have cleared it or set it again.
      if (timed.slot < 0 || timed.dueTick > tick) continue;
      this.#unlink(timed);
      timed.expire();
    }
  }
}
