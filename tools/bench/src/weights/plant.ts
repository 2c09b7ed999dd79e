/** Seconds that a resolver keeps an answer. */
export const TTL = 60;
/** The part of clients that keep an answer for longer than they may, and the seconds that they do. */
const STUBBORN = { part: 0.05, keep: 3 * TTL };

/**
 * Clients of two environments that are found by DNS, in steps of a second. Each client has resolved the name at some
 * moment of the last TTL and stays where it was sent then, so a change of weight is seen by a sixtieth of them in each
 * second.
 */
export class Plant {
  readonly #base: number;
  /** `#sums[n]` is the sum of the base's shares in the first n seconds. */
  readonly #sums: number[] = [0];
  #weight: number;

  constructor(base: number, weight: number) {
    this.#base = base;
    this.#weight = weight;
    for (let second = 0; second < STUBBORN.keep; second++) this.step();
  }

  get weight(): number {
    return this.#weight;
  }

  set weight(weight: number) {
    this.#weight = weight;
  }

  /** Lets a second go by. */
  step(): void {
    this.#sums.push((this.#sums.at(-1) ?? 0) + this.#base / (this.#base + this.#weight));
  }

  /** The part of the load that the base environment has. */
  baseShare(): number {
    return (1 - STUBBORN.part) * this.#mean(TTL) + STUBBORN.part * this.#mean(STUBBORN.keep);
  }

  #mean(seconds: number): number {
    return ((this.#sums.at(-1) ?? 0) - (this.#sums.at(-1 - seconds) ?? 0)) / seconds;
  }
}
