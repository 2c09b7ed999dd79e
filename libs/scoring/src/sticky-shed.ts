import type { StickyBand } from "./sticky-band.ts";
import type { StickyColumns } from "./sticky-columns.ts";

/** Parts of the mean that a holder may keep beyond what it should give; the next holder gives it instead. */
const TOLERANCE = 0.002;

/** Items that holders give: what they have too much of, and more of it while others would have too little. */
export function shed(columns: StickyColumns, band: StickyBand, mayMove: (item: number) => boolean): number[] {
  const { excess, deficit } = band.miss();
  const ceiling = waterline(columns, band, deficit - excess);
  const isNeedy = Uint8Array.from(columns.sums, (sum, holder) =>
    columns.isOpen[holder] === 1 && sum < band.low(holder) ? 1 : 0,
  );
  const pool: number[] = [];
  let carry = 0;
  for (const holder of columns.open) {
    const sum = columns.sum(holder);
    const top = band.isSeat(holder) ? band.high(holder) : Math.min(band.high(holder), ceiling);
    if (sum <= top) continue;
    const most = sum - band.low(holder);
    const wish = Math.min(sum - top + carry, most);
    const given = shedOf(columns, band, holder, { isNeedy, mayMove }, { least: sum - band.high(holder), wish, most });
    carry += sum - top;
    for (const item of given) {
      carry -= columns.load[item] as number;
      pool.push(item);
    }
  }
  return pool;
}

/** The level down to which holders within the band must give, so that they give `wanted` together. */
function waterline({ open, sums }: StickyColumns, band: StickyBand, wanted: number): number {
  if (wanted <= 0) return Infinity;
  const givers = open.filter((holder) => !band.isSeat(holder));
  let [low, high] = [0, 2 * band.mean];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    let given = 0;
    for (const holder of givers) given += Math.max(0, Math.min(sums[holder] as number, band.high(holder)) - middle);
    if (given >= wanted) low = middle;
    else high = middle;
  }
  return low;
}

interface Amount {
  readonly least: number;
  readonly wish: number;
  readonly most: number;
}

/**
 * Items of a holder that come to `wish` or little less, and to `least` if possible; those that a needy holder prefers
 * first.
 */
function shedOf(
  columns: StickyColumns,
  band: StickyBand,
  holder: number,
  { isNeedy, mayMove }: { readonly isNeedy: Uint8Array; readonly mayMove: (item: number) => boolean },
  { least, wish, most }: Amount,
): number[] {
  const { load, items } = columns;
  const offered = columns
    .present(holder)
    .filter((item) => (load[item] as number) > 0 && !band.isApart(item) && mayMove(item));
  const [wanted, others] = split(offered, (item) => isNeedy[items.preferred[item] as number] === 1);
  const [given, kept]: [number[], number[]] = [[], []];
  let amount = 0;
  const giveUpTo = (enough: number, list: readonly number[]) => {
    for (const item of amount < enough ? columns.ordered(list) : []) {
      const after = amount + (load[item] as number);
      if (amount >= enough || after > wish) kept.push(item);
      else {
        given.push(item);
        amount = after;
      }
    }
  };
  giveUpTo(wish, wanted);
  giveUpTo(Math.max(least, wish - TOLERANCE * band.mean), others);
  if (amount >= least) return given;
  const covering = columns.ordered(kept).findLast((item) => {
    const after = amount + (load[item] as number);
    return after >= least && after <= most;
  });
  if (covering !== undefined) given.push(covering);
  return given;
}

function split(list: readonly number[], isFirst: (item: number) => boolean): [number[], number[]] {
  const [first, second]: [number[], number[]] = [[], []];
  for (const item of list) (isFirst(item) ? first : second).push(item);
  return [first, second];
}
