import { durationMilliseconds } from "@evenkeel/api";
import type { EnabledPeriod } from "../binding.ts";
import { CronFault, CronSchedule } from "./cron.ts";
import { UnknownTimeZone, wallStretches } from "./wall-clock.ts";

/** Characters of a duration. */
const LONGEST_DURATION = 64;

/** Milliseconds between two starts at most: 29 February may come after eight years. */
const LONGEST_PAUSE = 9 * 366 * 24 * 3_600_000;

/**
 * Whether `now`, in milliseconds since the epoch, is within a period: some start is not after it, and less than the duration
 * before it. The caller treats an error as outside.
 *
 * A start is each minute at which the wall clock shows a time of the schedule, so there are two where clocks are set back over it, as for
 * KubeElasti. A start that is skipped because clocks are set forward is when they are, unless the schedule starts every hour: KubeElasti's period
 * would be missing on that day.
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
    for (const { from, to, isSkipped } of wallStretches(
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
