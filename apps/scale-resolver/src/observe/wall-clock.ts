/**
 * A range of wall-clock time: after `from`, up to and including `to`, as the instants at which a UTC clock shows them.
 */
export interface WallClockRange {
  readonly from: number;
  readonly to: number;
  /** Whether the wall clock skipped it, because it was set forward. */
  readonly isSkipped: boolean;
}

/** The time zone does not exist. */
export class UnknownTimeZone extends Error {}

const MINUTE = 60_000;
/** Milliseconds within which clocks do not change twice. */
const STEP = 3 * 24 * 60 * MINUTE;

/**
 * The wall-clock times after the instant `from`, up to and including the instant `to`: one range for each offset from
 * UTC. Ranges overlap if the clock was set back. Undefined is UTC.
 *
 * @throws UnknownTimeZone
 */
export function* wallClockRanges(timeZone: string | undefined, from: number, to: number): Generator<WallClockRange> {
  const offsetAt = timeZone === undefined || timeZone === "UTC" ? () => 0 : offsetIn(timeZone);
  let begin = from;
  let offset = offsetAt(from);
  for (let at = from; at < to;) {
    const next = Math.min(at + STEP, to);
    const after = offsetAt(next);
    if (after !== offset) {
      const change = changeBetween(at, next, after, offsetAt);
      yield { from: begin + offset, to: change - 1 + offset, isSkipped: false };
      if (after > offset) yield { from: change - 1 + offset, to: change - 1 + after, isSkipped: true };
      [begin, offset] = [change - 1, after];
    }
    at = next;
  }
  yield { from: begin + offset, to: to + offset, isSkipped: false };
}

/** The first minute with the offset `after`. Clocks change at full minutes. */
function changeBetween(from: number, to: number, after: number, offsetAt: (instant: number) => number): number {
  let [low, high] = [Math.floor(from / MINUTE) * MINUTE, Math.ceil(to / MINUTE) * MINUTE];
  while (high - low > MINUTE) {
    const middle = low + Math.floor((high - low) / 2 / MINUTE) * MINUTE;
    if (offsetAt(middle) === after) high = middle;
    else low = middle;
  }
  return high;
}

/** The offset of a time zone's wall clock from UTC at an instant, in milliseconds. */
function offsetIn(timeZone: string): (instant: number) => number {
  const format = formatIn(timeZone);
  return (instant) => {
    const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of format.formatToParts(instant)) part[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1000) * 1000;
  };
}

function formatIn(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en-US", {
      ...{ timeZone, calendar: "iso8601", numberingSystem: "latn", hourCycle: "h23" },
      ...{ year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" },
    });
  } catch (error) {
    throw error instanceof RangeError ? new UnknownTimeZone(timeZone, { cause: error }) : error;
  }
}
