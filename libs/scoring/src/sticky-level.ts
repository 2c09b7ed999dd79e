import type { StickyBand } from "./sticky-band.ts";
import type { StickyColumns } from "./sticky-columns.ts";
import { spread } from "./sticky-place.ts";
import { shed } from "./sticky-shed.ts";

/** Brings holders within 5 % of the mean. It changes nothing if that would not bring them nearer. */
export function level(columns: StickyColumns, band: StickyBand): void {
  const before = columns.owner.slice();
  const missed = missOf(band);
  const pool = band.unseated().concat(shed(columns, band, () => true));
  for (const item of pool) columns.take(item);
  spread(columns, band, pool);
  mend(columns, band);
  if (missOf(band) >= missed) columns.restore(before);
}

function missOf(band: StickyBand): number {
  const { excess, deficit } = band.miss();
  return excess + deficit;
}

/** Single moves for what sizes of items have left outside the band, each of which brings the loads nearer to it. */
function mend(columns: StickyColumns, band: StickyBand): void {
  const free = columns.open.filter((holder) => !band.isSeat(holder));
  const excess = (holder: number) => columns.sum(holder) - band.high(holder);
  for (let round = 0; round < 8 * columns.open.length; round += 1) {
    const [fullest, emptiest] = [columns.greatest(columns.open, excess), columns.least(free)];
    const byLoad = [...columns.open].sort((a, b) => columns.sum(a) - columns.sum(b));
    const isMoved =
      (excess(fullest) > 0 && byLoad.some((receiver) => moveOne(columns, band, fullest, receiver))) ||
      (columns.sum(emptiest) < band.low(emptiest) &&
        byLoad.reverse().some((donor) => moveOne(columns, band, donor, emptiest)));
    if (!isMoved) return;
  }
}

/** Moves the lightest item that ends the miss of both holders, else the one that lessens it most. */
function moveOne(columns: StickyColumns, band: StickyBand, donor: number, receiver: number): boolean {
  if (donor === receiver) return false;
  const missAt = (holder: number, sum: number) =>
    Math.max(0, sum - band.high(holder)) + Math.max(0, band.low(holder) - sum);
  const [from, to] = [columns.sum(donor), columns.sum(receiver)];
  let [best, bestMiss] = [-1, missAt(donor, from) + missAt(receiver, to)];
  for (const item of columns.sorted(donor)) {
    const load = columns.load[item] as number;
    if (load === 0 || band.isApart(item)) continue;
    const miss = missAt(donor, from - load) + missAt(receiver, to + load);
    // Later items are lighter: of the same miss they move less.
    if (miss < bestMiss || (best >= 0 && miss === bestMiss)) [best, bestMiss] = [item, miss];
  }
  if (best < 0) return false;
  columns.give(best, receiver);
  return true;
}
