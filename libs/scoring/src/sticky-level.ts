import type { StickyBand } from "./sticky-band.ts";
import type { StickyColumns } from "./sticky-columns.ts";
import { mend } from "./sticky-mend.ts";
import { spread } from "./sticky-place.ts";
import { shed } from "./sticky-shed.ts";

/** Brings holders within 5 % of the mean. It changes nothing if that would not bring them nearer. */
export function level(columns: StickyColumns, band: StickyBand): void {
  const before = columns.owner.slice();
  const missed = missOf(band);
  const pool = band.unseated().concat(shed(columns, band, () => true));
  for (const item of pool) columns.take(item);
  spread(columns, band, pool);
  mend(columns, band, () => true);
  if (missOf(band) >= missed) columns.restore(before);
}

function missOf(band: StickyBand): number {
  const { excess, deficit } = band.miss();
  return excess + deficit;
}
