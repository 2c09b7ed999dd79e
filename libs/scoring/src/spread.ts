import { checkFinite } from "./checks.ts";

/** Sums drift by rounding; after this many moves they are made from the levels again. */
const MOVES_BETWEEN_SUMS = 1_000;

/**
 * How far levels are spread around their mean, kept up to date move by move: a change costs O(1), however many levels
 * there are. A move may take another amount from where it starts than it adds where it lands, as a pod does between
 * nodes of different capacity; the mean then shifts, and the spread stays exact.
 */
export class Spread {
  #levels: Float64Array;
  /** Levels are summed as differences from it, so that squares do not cancel. */
  #origin = 0;
  #sum = 0;
  #squares = 0;
  #moves = 0;

  constructor(levels: ArrayLike<number>) {
    this.#levels = Float64Array.from(levels);
    for (const level of this.#levels) checkFinite(level, "a level");
    this.#sumUp();
  }

  copy(): Spread {
    const copy = new Spread([]);
    copy.#levels = this.#levels.slice();
    [copy.#origin, copy.#sum, copy.#squares] = [this.#origin, this.#sum, this.#squares];
    copy.#moves = this.#moves;
    return copy;
  }

  get count(): number {
    return this.#levels.length;
  }

  /** All levels as they are now; not to be changed. */
  get levels(): ArrayLike<number> {
    return this.#levels;
  }

  level(index: number): number {
    return this.#levels[index] as number;
  }

  get mean(): number {
    return this.count === 0 ? 0 : this.#origin + this.#sum / this.count;
  }

  get variance(): number {
    return this.count === 0 ? 0 : Math.max(0, this.#squares - (this.#sum * this.#sum) / this.count) / this.count;
  }

  /** The standard deviation: the root of the variance. */
  get sigma(): number {
    return Math.sqrt(this.variance);
  }

  /** The standard deviation of some of the levels around their own mean. */
  sigmaOf(members: readonly number[]): number {
    return new Spread(members.map((member) => this.level(member))).sigma;
  }

  /** By how much the variance changes if `taken` leaves `from` and `added` comes to `to`. Below 0 is more level. */
  change(from: number, taken: number, to: number, added: number): number {
    if (from === to) return 0;
    const source = (this.#levels[from] as number) - this.#origin;
    const target = (this.#levels[to] as number) - this.#origin;
    const shift = added - taken;
    return (
      (taken * (taken - 2 * source) +
        added * (added + 2 * target) -
        (shift * (2 * this.#sum + shift)) / this.#levels.length) /
      this.#levels.length
    );
  }

  /** Takes `taken` from one level and adds `added` to another. */
  move(from: number, taken: number, to: number, added: number): void {
    if (from === to) return;
    this.#shift(from, -taken);
    this.#shift(to, added);
    this.#moves += 1;
    if (this.#moves % MOVES_BETWEEN_SUMS === 0) this.#sumUp();
  }

  #shift(index: number, by: number): void {
    const level = (this.#levels[index] as number) - this.#origin;
    this.#levels[index] = this.#origin + (level + by);
    this.#sum += by;
    this.#squares += by * (2 * level + by);
  }

  #sumUp(): void {
    const levels = this.#levels;
    this.#origin = levels.reduce((sum, level) => sum + level, 0) / Math.max(1, levels.length);
    this.#sum = 0;
    this.#squares = 0;
    for (const level of levels) {
      this.#sum += level - this.#origin;
      this.#squares += (level - this.#origin) ** 2;
    }
  }
}
