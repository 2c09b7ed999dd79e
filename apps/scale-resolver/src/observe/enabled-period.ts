import { durationMilliseconds, type ElastiService } from "@evenkeel/api";
import { CronFault, type CronSchedule, parseCron } from "./cron.ts";
import { DAY, WallClock } from "./wall-clock.ts";

export type EnabledPeriod = NonNullable<ElastiService["spec"]["enabledPeriod"]>;

/** Characters of a duration. */
const LONGEST_DURATION = 64;

/** The most days between two starts: 29 February may come after eight years. */
const MOST_DAYS = 9 * 366;

/**
 * Whether `now`, in milliseconds since the epoch, is inside of a period: some start is not after it, and less than the duration
 * before it. What cannot be read is an error, which the caller takes for being outside.
 *
 * A start is each minute at which the wall clock fits the schedule, so there are two where clocks are put back over it. A start
 * that is skipped because clocks are put forward is when they are, unless the schedule starts each hour anyhow: a day loses its
 * period no more than its night.
 */
export function isWithin(
  { schedule, duration, timeZone }: EnabledPeriod,
  now: number,
): { readonly within: boolean } | { readonly error: string } {
  const lasts = duration.length <= LONGEST_DURATION ? durationMilliseconds(duration) : undefined;
  if (lasts === undefined || !(lasts > 0)) return { error: "enabledPeriod.duration is no time above 0, such as 8h" };
  try {
    const cron = parseCron(schedule);
    if (cron.timeZone !== undefined && timeZone !== undefined)
      return { error: "enabledPeriod.schedule names a time zone, and timeZone does so too: leave one out" };
    const start = latestStart(cron, new WallClock(timeZone ?? cron.timeZone), now);
    return { within: start !== undefined && now < start + lasts };
  } catch (error) {
    if (error instanceof CronFault) return { error: `enabledPeriod.schedule cannot be read: ${error.message}` };
    if (error instanceof RangeError) return { error: "enabledPeriod names a time zone that there is not" };
    throw error;
  }
}

/** The last start that is not after `now`. */
function latestStart(cron: CronSchedule, clock: WallClock, now: number): number | undefined {
  const today = Math.floor(clock.at(now) / DAY);
  let latest: number | undefined;
  // From tomorrow, which clocks that are put back over midnight have shown already.
  for (let day = today + 1; day > today - MOST_DAYS; day -= 1) {
    const date = new Date(day * DAY);
    const start = cron.hasDay(calendarDay(date)) ? latestOfDay(cron, clock, day * DAY, now) : undefined;
    // For the same reason, a day may have a later start than the one that follows it.
    if (latest !== undefined) return Math.max(latest, start ?? latest);
    latest = start;
  }
  return latest;
}

function calendarDay(date: Date) {
  return { month: date.getUTCMonth() + 1, dayOfMonth: date.getUTCDate(), dayOfWeek: date.getUTCDay() };
}

function latestOfDay(cron: CronSchedule, clock: WallClock, midnight: number, now: number): number | undefined {
  const { changesAt, instants } = clock.day(midnight);
  const isHourly = cron.hours.length === 24;
  let latest: number | undefined;
  for (const hour of cron.hours.toReversed()) {
    for (const minute of cron.minutes.toReversed()) {
      const shown = instants((hour * 60 + minute) * 60_000);
      const starts = shown.length === 0 && changesAt !== undefined && !isHourly ? [changesAt] : shown;
      for (const start of starts) if (start <= now && start > (latest ?? -Infinity)) latest = start;
      // Where clocks do not change, what comes next is earlier.
      if (latest !== undefined && changesAt === undefined) return latest;
    }
  }
  return latest;
}
