/** A day of a wall clock, for turning its times into instants. All in milliseconds since the epoch. */
export interface WallDay {
  /**
   * The instants at which the clock shows `time` after the day's midnight: one; two where clocks are put back meanwhile; none where
   * they are put forward.
   */
  readonly instants: (time: number) => readonly number[];
  /** When the clocks change on the day or next to it, if they do. */
  readonly changesAt: number | undefined;
}

const HOUR = 3_600_000;
const MINUTE = 60_000;
export const DAY = 24 * HOUR;

/** A wall clock somewhere on earth. */
export class WallClock {
  /** What the clock shows less the instant, in milliseconds. */
  readonly #offset: (instant: number) => number;

  /** Throws RangeError for a zone that there is not. Absent: UTC. */
  constructor(timeZone: string | undefined) {
    this.#offset = timeZone === undefined || timeZone === "UTC" ? () => 0 : offsetIn(timeZone);
  }

  /** What the clock shows, as the instant at which a clock in UTC shows it. */
  at(instant: number): number {
    return instant + this.#offset(instant);
  }

  /** The day that begins when a clock in UTC shows `midnight`. */
  day(midnight: number): WallDay {
    // Wherever on earth, the day is within these.
    const [from, to] = [midnight - 15 * HOUR, midnight + DAY + 13 * HOUR];
    const [before, after] = [this.#offset(from), this.#offset(to)];
    if (before === after) return { changesAt: undefined, instants: (time) => [midnight + time - before] };
    const changesAt = this.#changeBetween(from, to, after);
    return {
      changesAt,
      instants: (time) => {
        const [early, late] = [midnight + time - before, midnight + time - after];
        return [...(early < changesAt ? [early] : []), ...(late >= changesAt ? [late] : [])];
      },
    };
  }

  /** The first minute of the offset `after`. Clocks change at full minutes, and not twice within three days. */
  #changeBetween(from: number, to: number, after: number): number {
    let [low, high] = [from, to];
    while (high - low > MINUTE) {
      const middle = low + Math.floor((high - low) / 2 / MINUTE) * MINUTE;
      if (this.#offset(middle) === after) high = middle;
      else low = middle;
    }
    return high;
  }
}

function offsetIn(timeZone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    ...{ timeZone, calendar: "iso8601", numberingSystem: "latn", hourCycle: "h23" },
    ...{ year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" },
  });
  return (instant) => {
    const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of format.formatToParts(instant)) part[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1000) * 1000;
  };
}
