import type { StickyBand } from "./sticky-band.ts";
import type { StickyColumns } from "./sticky-columns.ts";
import { mend } from "./sticky-mend.ts";
import { shed } from "./sticky-shed.ts";

/**
 * Gives each item of `pool` its preferred holder, but for the few that would make it too much there, or too little
 * elsewhere.
 */
export function place(columns: StickyColumns, band: StickyBand, pool: readonly number[]): void {
  const { items, isOpen, size } = columns;
  const isNew = new Uint8Array(size);
  for (const item of pool) {
    isNew[item] = 1;
    columns.take(item);
  }
  // Heavy items need room that light ones would take, and what a holder may have depends on those that are set apart.
  spread(
    columns,
    band,
    pool.filter((item) => band.isHeavy(item)),
  );
  const light = pool.filter((item) => !band.isHeavy(item));
  for (const item of light) {
    const preferred = items.preferred[item] as number;
    if (preferred >= 0 && isOpen[preferred] === 1) columns.give(item, preferred);
  }
  spread(
    columns,
    band,
    light.filter((item) => (columns.owner[item] as number) < 0),
  );
  const isOfPool = (item: number) => isNew[item] === 1;
  const given = shed(columns, band, isOfPool);
  for (const item of given) columns.take(item);
  spread(columns, band, given);
  mend(columns, band, isOfPool);
}

/**
 * Gives each item of `pool` a holder, the heaviest first: its preferred one if that has room and what is left of the
 * pool still fills all that have too little; else the one with the least load.
 */
export function spread(columns: StickyColumns, band: StickyBand, pool: readonly number[]): void {
  const { load, items, isOpen } = columns;
  let slack = -band.miss().deficit;
  for (const item of pool) slack += load[item] as number;
  let others = free(columns, band);
  const give = (item: number, holder: number) => {
    slack -= surplus(columns, band, item, holder);
    columns.give(item, holder);
  };
  for (const item of columns.ordered(pool)) {
    const preferred = items.preferred[item] as number;
    const mayPrefer = preferred >= 0 && isOpen[preferred] === 1;
    if (band.isApart(item)) {
      const seat = mayPrefer && !band.isSeat(preferred) ? preferred : columns.least(others);
      give(item, seat);
      band.seat(item, seat);
      others = free(columns, band);
    } else if (
      mayPrefer &&
      columns.sum(preferred) + (load[item] as number) <= band.high(preferred) &&
      surplus(columns, band, item, preferred) <= slack
    ) {
      give(item, preferred);
    } else {
      give(item, columns.least(others));
    }
  }
}

/** How much of an item a holder would get beyond the least that it should have. */
function surplus(columns: StickyColumns, band: StickyBand, item: number, holder: number): number {
  const missing = Math.max(0, band.low(holder) - columns.sum(holder));
  return Math.max(0, (columns.load[item] as number) - missing);
}

/** Open holders with which no item is set apart, if there are any. */
function free({ open }: StickyColumns, band: StickyBand): readonly number[] {
  if (band.apart.length === 0) return open;
  const others = open.filter((holder) => !band.isSeat(holder));
  return others.length === 0 ? open : others;
}
