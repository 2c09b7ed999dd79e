import type { StickyBand } from "./sticky-band.ts";
import type { StickyColumns } from "./sticky-columns.ts";

type MayMove = (item: number) => boolean;

/** Single moves for what sizes of items have left outside the band, each of which brings the loads nearer to it. */
export function mend(columns: StickyColumns, band: StickyBand, mayMove: MayMove): void {
  const free = columns.open.filter((holder) => !band.isSeat(holder));
  const excess = (holder: number) => columns.sum(holder) - band.high(holder);
  for (let round = 0; round < 8 * columns.open.length; round += 1) {
    const [fullest, emptiest] = [columns.greatest(columns.open, excess), columns.least(free)];
    const byLoad = [...columns.open].sort((a, b) => columns.sum(a) - columns.sum(b));
    const isMoved =
      (excess(fullest) > 0 && byLoad.some((receiver) => moveOne(columns, band, mayMove, fullest, receiver))) ||
      (columns.sum(emptiest) < band.low(emptiest) &&
        byLoad.reverse().some((donor) => moveOne(columns, band, mayMove, donor, emptiest)));
    if (!isMoved) return;
  }
}

/**
 * Moves the lightest item that ends the miss of both holders, else the one that lessens it most and others of its load.
 */
function moveOne(columns: StickyColumns, band: StickyBand, mayMove: MayMove, donor: number, receiver: number): boolean {
  if (donor === receiver) return false;
  const missAt = (holder: number, sum: number) =>
    Math.max(0, sum - band.high(holder)) + Math.max(0, band.low(holder) - sum);
  const missWithout = (load: number) =>
    missAt(donor, columns.sum(donor) - load) + missAt(receiver, columns.sum(receiver) + load);
  const items = columns
    .ordered(columns.present(donor).filter(mayMove))
    .filter((item) => (columns.load[item] as number) > 0 && !band.isApart(item));
  let [best, bestMiss] = [-1, missWithout(0)];
  for (const item of items) {
    const miss = missWithout(columns.load[item] as number);
    // Later items are lighter: of the same miss they move less.
    if (miss < bestMiss || (best >= 0 && miss === bestMiss)) [best, bestMiss] = [item, miss];
  }
  if (best < 0) return false;
  const load = columns.load[best] as number;
  columns.give(best, receiver);
  for (const item of items)
    if (item !== best && columns.load[item] === load && missWithout(load) < missWithout(0))
      columns.give(item, receiver);
  return true;
}
