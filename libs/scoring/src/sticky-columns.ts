import { checkNotNegative } from "./checks.ts";

/** Who may own items. */
export interface Holder {
  readonly name: string;
  /** Load of items that are not listed and stay; 0 if absent. */
  readonly fixed?: number;
  /** It gives all its items away and gets none. */
  readonly closed?: boolean;
}

/** Items as columns of the same length. */
export interface Items {
  /** Not negative. */
  readonly load: ArrayLike<number>;
  /** Index of the holder; -1 for an orphan. */
  readonly owner: ArrayLike<number>;
  /** Index of the holder that should get the item if it must go somewhere; -1 if that does not matter. */
  readonly preferred: ArrayLike<number>;
  /** A number of the item's own, such as a hash of its name: it decides between items of the same load. */
  readonly id: ArrayLike<number>;
}

/**
 * Bits of the greatest load. With 2^20 items, sums are exact in a double, so that the order of items does not matter.
 */
const BITS = 30;

/** Loads that are all below it count as nothing: a unit of theirs would be no number. */
const SMALLEST = 1e-200;

/** Owners and loads of a balance that is being worked out. Loads are whole multiples of `unit`. */
export class StickyColumns {
  readonly unit: number;
  readonly size: number;
  readonly load: Float64Array;
  readonly before: Int32Array;
  readonly owner: Int32Array;
  readonly items: Items;
  /** Load of each holder. */
  readonly sums: Float64Array;
  /** Indices of holders that may get items, by name. */
  readonly open: readonly number[];
  readonly isOpen: Uint8Array;
  /** Items that each holder has or had; those that went are skipped by {@link each}. */
  readonly #lists: number[][];

  constructor(holders: readonly Holder[], items: Items) {
    this.items = items;
    this.size = items.load.length;
    let greatest = 0;
    for (let item = 0; item < this.size; item += 1) {
      const load = items.load[item] as number;
      checkNotNegative(load, "the load of an item");
      if (load > greatest) greatest = load;
    }
    this.unit = greatest < SMALLEST ? SMALLEST : 2 ** (Math.ceil(Math.log2(greatest)) - BITS);
    this.load = new Float64Array(this.size);
    this.before = new Int32Array(this.size);
    for (let item = 0; item < this.size; item += 1) {
      this.load[item] = Math.round((items.load[item] as number) / this.unit);
      this.before[item] = items.owner[item] as number;
    }
    this.owner = this.before.slice();
    this.sums = Float64Array.from(holders, ({ name, fixed = 0 }) => {
      checkNotNegative(fixed, "the load of holder", name);
      return Math.round(fixed / this.unit);
    });
    this.isOpen = Uint8Array.from(holders, ({ closed }) => (closed === true ? 0 : 1));
    this.open = holders
      .map(({ name }, index) => ({ name, index }))
      .filter(({ index }) => this.isOpen[index] === 1)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ index }) => index);
    this.#lists = holders.map(() => []);
    for (let item = 0; item < this.size; item += 1) {
      const owner = this.owner[item] as number;
      if (owner < 0) continue;
      (this.#lists[owner] as number[]).push(item);
      this.sums[owner] = (this.sums[owner] as number) + (this.load[item] as number);
    }
  }

  /** The items of a holder. */
  present(holder: number): number[] {
    const list = (this.#lists[holder] as number[]).filter((item) => this.owner[item] === holder);
    this.#lists[holder] = list;
    return list;
  }

  /** The heaviest first; of the same load by their id. */
  ordered(list: readonly number[]): number[] {
    const { load, items } = this;
    return [...list].sort(
      (a, b) => (load[b] as number) - (load[a] as number) || (items.id[a] as number) - (items.id[b] as number),
    );
  }

  sum(holder: number): number {
    return this.sums[holder] as number;
  }

  /** Takes the item from its owner; it has none then. */
  take(item: number): void {
    const owner = this.owner[item] as number;
    if (owner >= 0) this.sums[owner] = (this.sums[owner] as number) - (this.load[item] as number);
    this.owner[item] = -1;
  }

  give(item: number, holder: number): void {
    this.take(item);
    this.owner[item] = holder;
    this.sums[holder] = (this.sums[holder] as number) + (this.load[item] as number);
    (this.#lists[holder] as number[]).push(item);
  }

  /** Orphans, and the items of closed holders if another holder is open. */
  homeless(): number[] {
    const found: number[] = [];
    for (let item = 0; item < this.size; item += 1) {
      const owner = this.before[item] as number;
      if (owner < 0 || (this.isOpen[owner] === 0 && this.open.length > 0)) found.push(item);
    }
    return found;
  }

  /** The holder with the least load; of the same load the first by name. */
  least(holders: readonly number[]): number {
    return this.greatest(holders, (holder) => -this.sum(holder));
  }

  /** The first holder with the greatest measure. */
  greatest(holders: readonly number[], measure: (holder: number) => number): number {
    let [found, greatest] = [-1, -Infinity];
    for (const holder of holders) {
      const size = measure(holder);
      if (size > greatest) [found, greatest] = [holder, size];
    }
    return found;
  }

  restore(owners: Int32Array): void {
    for (let item = 0; item < this.size; item += 1) {
      const owner = owners[item] as number;
      if (owner === this.owner[item]) continue;
      if (owner < 0) this.take(item);
      else this.give(item, owner);
    }
  }

  /**
   * Undoes moves beyond `limit`: those from closed holders stay first, then the heaviest. Returns whether any was
   * undone.
   */
  keep(limit: number): boolean {
    const moved: number[] = [];
    for (let item = 0; item < this.size; item += 1)
      if ((this.before[item] as number) >= 0 && this.owner[item] !== this.before[item]) moved.push(item);
    if (moved.length <= limit) return false;
    const isClosed = (item: number) => this.isOpen[this.before[item] as number] === 0;
    const sorted = this.ordered(moved);
    const kept = [...sorted.filter(isClosed), ...sorted.filter((item) => !isClosed(item))];
    for (const item of kept.slice(limit)) this.give(item, this.before[item] as number);
    return true;
  }

  /** Load that changed its holder. */
  moved(): number {
    let moved = 0;
    for (let item = 0; item < this.size; item += 1)
      if (this.owner[item] !== this.before[item]) moved += this.load[item] as number;
    return moved;
  }
}
