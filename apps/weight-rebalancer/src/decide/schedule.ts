import type { ScheduledWindow, Weekday } from "./snapshot.ts";

const WEEK: readonly Weekday[] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/** Local time. */
interface WallTime {
  readonly day: Weekday;
  /** Minutes since midnight. */
  readonly minute: number;
}

/**
 * The window with the highest value of those that are open at `now`, in milliseconds since 1970; undefined if none is
 * open.
 *
 * A window is open while the local time in `timeZone` is in it. A window with endTime before startTime ends on the next
 * day; one with equal times never opens, as in the original. When the clock moves forward, the skipped times do not
 * occur: a window inside them does not open, and one that begins in them opens with the first minute after. When it
 * moves back, the repeated times occur twice.
 */
export function openWindow(
  windows: readonly ScheduledWindow[],
  timeZone: string,
  now: number,
): ScheduledWindow | undefined {
  if (windows.length === 0) return undefined;
  const wall = wallTime(timeZone, now);
  return windows
    .filter((window) => isOpen(window, wall))
    .reduce<ScheduledWindow | undefined>(
      (most, window) => (most && most.value >= window.value ? most : window),
      undefined,
    );
}

function isOpen({ startTime, endTime, days }: ScheduledWindow, { day, minute }: WallTime): boolean {
  const [start, end] = [minuteOf(startTime), minuteOf(endTime)];
  const begins = (on: Weekday) => days.length === 0 || days.includes(on);
  if (start === end) return false;
  if (start < end) return begins(day) && start <= minute && minute < end;
  return (begins(day) && start <= minute) || (begins(dayBefore(day)) && minute < end);
}

function minuteOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  return hours * 60 + minutes;
}

function dayBefore(day: Weekday): Weekday {
  return WEEK[(WEEK.indexOf(day) + 6) % 7] ?? day;
}

function wallTime(timeZone: string, now: number): WallTime {
  const found = formatOf(timeZone).formatToParts(now);
  const parts = new Map(found.map(({ type, value }) => [type, value]));
  const day = WEEK.find((weekday) => weekday === parts.get("weekday")) ?? "Mon";
  return { day, minute: minuteOf(`${parts.get("hour") ?? ""}:${parts.get("minute") ?? ""}`) };
}

/**
 * One for each time zone: making one takes longer than a decision, and a backtest has tens of thousands of decisions.
 */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** Most that are kept. A tenant can spell one time zone in very many ways: case does not count. */
const MOST_FORMATS = 100;

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = FORMATS.get(timeZone);
  if (known) return known;
  const clock = { weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  const made = new Intl.DateTimeFormat("en-US", { timeZone, ...clock });
  if (FORMATS.size >= MOST_FORMATS) FORMATS.clear();
  FORMATS.set(timeZone, made);
  return made;
}
