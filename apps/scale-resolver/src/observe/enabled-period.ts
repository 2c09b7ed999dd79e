import { durationMilliseconds } from "@evenkeel/api";
import type { EnabledPeriod } from "../binding.ts";
import { CronFault, CronSchedule } from "./cron.ts";
import { UnknownTimeZone, wallClockRanges } from "./wall-clock.ts";

/** Maximum characters of a duration. */
const LONGEST_DURATION = 64;

/** Maximum milliseconds between two starts: 29 February may be eight years apart. */
const LONGEST_PAUSE = 9 * 366 * 24 * 3_600_000;

/**
 * Whether `now`, in milliseconds since the epoch, is within a period that started at most `duration` ago. The caller
 * treats an error as outside.
 *
 * A period starts at each minute at which the wall clock shows a time of the schedule. A start that is repeated because
 * clocks are set back counts twice, as in KubeElasti. A start that is skipped because clocks are set forward happens at
 * that change, unless the schedule starts every hour. In KubeElasti the period would be missing on that day.
 */
export function isWithin(
  { schedule, duration, timeZone }: EnabledPeriod,
  now: number,
): { readonly within: boolean } | { readonly error: string } {
  const lasts = duration.length <= LONGEST_DURATION ? durationMilliseconds(duration) : undefined;
  if (lasts === undefined || !(lasts > 0))
    return { error: "enabledPeriod.duration is not a duration above 0, such as 8h" };
  try {
    const cron = new CronSchedule(schedule);
    if (cron.timeZone !== undefined && timeZone !== undefined)
      return { error: "enabledPeriod.schedule and enabledPeriod.timeZone both name a time zone: remove one of them" };
    for (const { from, to, isSkipped } of wallClockRanges(
      timeZone ?? cron.timeZone,
      now - Math.min(lasts, LONGEST_PAUSE),
      now,
    )) {
      if (cron.fallsBetween(from, to) && !(isSkipped && cron.isHourly)) return { within: true };
    }
    return { within: false };
  } catch (error) {
    if (error instanceof CronFault) return { error: `enabledPeriod.schedule cannot be read: ${error.message}` };
    if (error instanceof UnknownTimeZone) return { error: "enabledPeriod names a time zone that does not exist" };
    throw error;
  }
}
