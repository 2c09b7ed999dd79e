import type { StickyColumns } from "./sticky-columns.ts";

/** Holders are left alone while all are this near to the mean. */
const TRIGGER = 0.1;
/** Else all are brought this near. */
const GOAL = 0.05;

/**
 * How much each holder may have. An item that is larger than the mean cannot be levelled: it is set apart with a holder
 * that gets little else, and the mean is that of the other holders and their items.
 */
export class StickyBand {
  readonly mean: number;
  /** Items that are larger than the mean, the heaviest first. */
  readonly apart: readonly number[];
  readonly #apart: ReadonlySet<number>;
  readonly #columns: StickyColumns;
  /** Load of the item that was set apart with a holder; 0 for the others. */
  readonly #seated: Float64Array;

  constructor(columns: StickyColumns) {
    const { load, sums, open, owner, size } = columns;
    this.#columns = columns;
    this.#seated = new Float64Array(sums.length);
    let left = sums.reduce((sum, each) => sum + each, 0);
    for (let item = 0; item < size; item += 1) if ((owner[item] as number) < 0) left += load[item] as number;
    let count = open.length;
    const apart: number[] = [];
    // Each item that is set apart lowers the mean, so that further ones may be larger than it.
    for (let limit = Infinity; count > 1;) {
      const mean = left / count;
      const heavy: number[] = [];
      for (let item = 0; item < size; item += 1)
        if ((load[item] as number) > mean && (load[item] as number) <= limit) heavy.push(item);
      if (heavy.length === 0) break;
      for (const item of columns.ordered(heavy).slice(0, count - 1)) {
        apart.push(item);
        left -= load[item] as number;
        count -= 1;
      }
      limit = mean;
    }
    this.apart = apart;
    this.#apart = new Set(apart);
    this.mean = count === 0 ? 0 : left / count;
    for (const item of apart) {
      const holder = owner[item] as number;
      if (holder >= 0 && columns.isOpen[holder] === 1 && !this.isSeat(holder)) this.seat(item, holder);
    }
  }

  isApart(item: number): boolean {
    return this.#apart.has(item);
  }

  /** Whether an item alone takes half of the band, so that it needs a place before others. */
  isHeavy(item: number): boolean {
    return (this.#columns.load[item] as number) > GOAL * this.mean;
  }

  /** Items to set apart that share an open holder with a heavier one. */
  unseated(): number[] {
    const { owner, load, isOpen } = this.#columns;
    const seats = new Set<number>();
    return this.apart.filter((item) => {
      const holder = owner[item] as number;
      if (holder < 0 || isOpen[holder] === 0 || load[item] === 0) return false;
      if (seats.has(holder)) return true;
      seats.add(holder);
      return false;
    });
  }

  /** Whether an item that is larger than the mean is set apart with the holder. */
  isSeat(holder: number): boolean {
    return (this.#seated[holder] as number) > 0;
  }

  seat(item: number, holder: number): void {
    this.#seated[holder] = this.#columns.load[item] as number;
  }

  /** The most that a holder should have. */
  high(holder: number): number {
    return this.#above(holder, GOAL);
  }

  /** The least that a holder should have. */
  low(holder: number): number {
    return this.isSeat(holder) ? 0 : (1 - GOAL) * this.mean;
  }

  /** Whether a holder has so much or so little that load is levelled. */
  isOutside(holder: number): boolean {
    const sum = this.#columns.sum(holder);
    return sum > this.#above(holder, TRIGGER) || (!this.isSeat(holder) && sum < (1 - TRIGGER) * this.mean);
  }

  /** Load above what holders should have, and missing below. */
  miss(): { readonly excess: number; readonly deficit: number } {
    let [excess, deficit] = [0, 0];
    for (const holder of this.#columns.open) {
      excess += Math.max(0, this.#columns.sum(holder) - this.high(holder));
      deficit += Math.max(0, this.low(holder) - this.#columns.sum(holder));
    }
    return { excess, deficit };
  }

  #above(holder: number, margin: number): number {
    return Math.max(this.mean, this.#seated[holder] as number) + margin * this.mean;
  }
}
