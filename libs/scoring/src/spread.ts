import { checkFinite } from "./checks.ts";

/** Where something that moves may come down: `size` is what it adds there. */
export interface Landing {
  readonly to: number;
  readonly size: number;
  readonly probability: number;
}

/** Sums drift by rounding; after this many moves they are made from the levels again. */
const MOVES_BETWEEN_SUMS = 1_000;

/**
 * How far levels are spread around their mean, kept up to date move by move: a change costs O(1), however many levels there
 * are. A move may take another amount from where it starts than it adds where it lands, as a pod does between nodes of
 * different capacity; the mean then shifts, and the spread stays exact.
 *
 * A move with several possible landings changes the levels to their expected values, and the variance to its expected value
 * over the landings of all moves, which are taken as independent. The expected variance is above that of the expected levels:
 * not knowing where load comes down is not the same as spreading it.
 */
export class Spread {
  #levels: Float64Array;
  /** Levels are summed as differences from it, so that squares do not cancel. */
  #origin = 0;
  #sum = 0;
  #squares = 0;
  /** What the expected sum of squared deviations is above that of the expected levels. */
  #doubt = 0;
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
    [copy.#doubt, copy.#moves] = [this.#doubt, this.#moves];
    return copy;
  }

  get count(): number {
    return this.#levels.length;
  }

  level(index: number): number {
    return this.#levels[index] as number;
  }

  get mean(): number {
    return this.count === 0 ? 0 : this.#origin + this.#sum / this.count;
  }

  get variance(): number {
    return this.count === 0 ? 0 : Math.max(0, this.#deviations() + this.#doubt) / this.count;
  }

  /** The standard deviation: the root of the variance. */
  get sigma(): number {
    return Math.sqrt(this.variance);
  }

  /** The standard deviation of some of the levels around their own mean, at their expected values. */
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

  /** Takes `size` from `from` and lands it. With the probability that the landings leave over, everything stays. */
  move(from: number, size: number, landings: readonly Landing[]): void {
    const before = this.#deviations();
    let expected = 0;
    for (const landing of landings) {
      expected += landing.probability * this.change(from, size, landing.to, landing.size) * this.count;
    }
    for (const { to, size: added, probability } of landings) {
      if (to === from) continue;
      this.#shift(from, -probability * size);
      this.#shift(to, probability * added);
    }
    const isCertain = landings.length === 1 && landings[0]?.probability === 1;
    if (!isCertain) this.#doubt += expected - (this.#deviations() - before);
    this.#moves += 1;
    if (this.#moves % MOVES_BETWEEN_SUMS === 0) this.#sumUp();
  }

  #shift(index: number, by: number): void {
    const level = (this.#levels[index] as number) - this.#origin;
    this.#levels[index] = this.#origin + (level + by);
    this.#sum += by;
    this.#squares += by * (2 * level + by);
  }

  #deviations(): number {
    return this.#squares - (this.#sum * this.#sum) / this.count;
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
