import { StickyBand } from "./sticky-band.ts";
import { type Holder, type Items, StickyColumns } from "./sticky-columns.ts";
import { level } from "./sticky-level.ts";
import { place } from "./sticky-place.ts";

export interface StickyOptions {
  /** Whether load may be moved to level it; else only orphans and the items of closed holders move. Default true. */
  readonly level?: boolean;
  /** The most items that may move away from a holder; orphans do not count. Default: no limit. */
  readonly limit?: number;
}

export interface StickyBalance {
  /** Index of each item's holder; -1 if no holder is open. */
  readonly owner: Int32Array;
  /** Load of each holder. */
  readonly loads: Float64Array;
  /** What each open holder should have, without the items that are set apart. */
  readonly mean: number;
  /** Load that changes its holder, orphans included. */
  readonly moved: number;
  /** Load that must move at least to place all items and bring every open holder within 5 % of the mean. */
  readonly bound: number;
  /** Items that are larger than the mean, the heaviest first: each is set apart with a holder that gets little else. */
  readonly apart: readonly number[];
  /** Whether a holder was further than 10 % from the mean after orphans were placed. */
  readonly isOutside: boolean;
  /** Whether moves were left out because of `limit`. */
  readonly isCut: boolean;
}

/**
 * Levels load and moves little. Items stay with their holders; orphans and the items of closed holders are placed;
 * then, if a holder is further than 10 % from the mean, all are brought within 5 %, as far as the size of items allows:
 * always if none is larger than 5 % of the mean. Load is levelled only if that brings it nearer to the band. Items go
 * to their preferred holder where that costs no load. The same items give the same answer, whatever their order.
 */
export function stickyBalance(holders: readonly Holder[], items: Items, options: StickyOptions = {}): StickyBalance {
  const columns = new StickyColumns(holders, items);
  const band = new StickyBand(columns);
  const homeless = columns.homeless();
  const bound = boundOf(columns, band, homeless);
  let isOutside = false;
  if (columns.open.length > 0) {
    place(columns, band, homeless);
    isOutside = columns.open.some((holder) => band.isOutside(holder));
    if (isOutside && options.level !== false) level(columns, band);
  }
  const isCut = columns.keep(options.limit ?? Infinity);
  const { unit, sums, owner } = columns;
  return {
    ...{ owner, loads: sums.map((sum) => sum * unit), mean: band.mean * unit, moved: columns.moved() * unit },
    ...{ bound: bound * unit, apart: band.apart, isOutside, isCut },
  };
}

/** Whatever is above the band must leave, and whatever is missing below it must come: the greater of the two moves. */
function boundOf(columns: StickyColumns, band: StickyBand, homeless: readonly number[]): number {
  let load = 0;
  for (const item of homeless) load += columns.load[item] as number;
  const { excess, deficit } = band.miss();
  return Math.max(load + excess, deficit);
}
