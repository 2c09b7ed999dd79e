import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { isWithin } from "./enabled-period.ts";

const MINUTE = 60_000;

/** Whether an instant such as `2026-03-08T06:30Z` is within the period. */
function within(schedule: string, duration: string, at: string, timeZone?: string): boolean | string {
  const answer = isWithin({ schedule, duration, ...(timeZone !== undefined && { timeZone }) }, Date.parse(at));
  return "error" in answer ? answer.error : answer.within;
}

describe("an enabled period", () => {
  test.each([
    ["0 0 * * *", "24h", "2026-05-06T23:59:59.999Z", true],
    ["0 9 * * *", "8h", "2026-05-06T08:59:59.999Z", false],
    ["0 9 * * *", "8h", "2026-05-06T09:00:00Z", true],
    ["0 9 * * *", "8h", "2026-05-06T16:59:59.999Z", true],
    ["0 9 * * *", "8h", "2026-05-06T17:00:00Z", false],
    // Over midnight, and over the end of a year.
    ["0 22 * * *", "8h", "2026-05-07T05:59Z", true],
    ["0 22 * * *", "8h", "2026-05-07T06:00Z", false],
    ["0 22 31 12 *", "8h", "2027-01-01T05:59Z", true],
    // 2026-05-06 is a Wednesday.
    ["0 9 * * MON-FRI", "1h", "2026-05-06T09:30Z", true],
    ["0 9 * * mon-fri", "1h", "2026-05-09T09:30Z", false],
    ["0 9 * * 0", "1h", "2026-05-10T09:30Z", true],
    ["0 9 * * 7", "1h", "2026-05-10T09:30Z", true],
    ["0 9 * * 5-7", "1h", "2026-05-10T09:30Z", true],
    ["0 9 * * 5-7", "1h", "2026-05-07T09:30Z", false],
    ["0 9 * * 7/2", "1h", "2026-05-10T09:30Z", true],
    ["0 9 * * 7/2", "1h", "2026-05-12T09:30Z", false],
    ["0 9 * * 1/2", "1h", "2026-05-10T09:30Z", false],
    ["0 9 * * SUN-SUN", "1h", "2026-05-10T09:30Z", true],
    ["0 9 * * SUN-SUN", "1h", "2026-05-11T09:30Z", false],
    ["0 9 * * 0-sun", "1h", "2026-05-10T09:30Z", true],
    ["0 9 * * SUN-TUE", "1h", "2026-05-12T09:30Z", true],
    // Only in the day of week is 7 the first value.
    ["7/15 * * * *", "5m", "2026-05-06T09:22Z", true],
    ["0 7/2 * * *", "5m", "2026-05-06T09:00Z", true],
    ["0 9 7/7 * *", "5m", "2026-05-14T09:00Z", true],
    ["0 9 1 7/2 *", "5m", "2026-09-01T09:00Z", true],
    ["0 9 1 7/2 *", "5m", "2026-08-01T09:00Z", false],
    ["0 9 * MAY *", "1h", "2026-05-06T09:30Z", true],
    ["0 9 * jan,JUN-aug *", "1h", "2026-05-06T09:30Z", false],
    ["0 9 * jan,JUN-aug *", "1h", "2026-07-06T09:30Z", true],
    // Both kinds of day: either will do, unless one of them is left open.
    ["0 9 1 * WED", "1h", "2026-05-06T09:30Z", true],
    ["0 9 6 * SUN", "1h", "2026-05-06T09:30Z", true],
    ["0 9 7 * SUN", "1h", "2026-05-06T09:30Z", false],
    ["0 9 ? * WED", "1h", "2026-05-06T09:30Z", true],
    ["0 9 ? * THU", "1h", "2026-05-06T09:30Z", false],
    ["0 9 */1 * THU", "1h", "2026-05-06T09:30Z", false],
    ["0 9 *,7 * 5", "1h", "2026-05-06T09:30Z", false],
    ["0 9 *,7 * 5", "1h", "2026-05-08T09:30Z", true],
    ["0 9 7 * 5,?", "1h", "2026-05-06T09:30Z", false],
    // A star with a step chooses days, as it does for the original.
    ["0 9 */5 * THU", "1h", "2026-05-06T09:30Z", true],
    // The list has a 31st, which February has not.
    ["* * */5 * 0", "1m", "2024-03-01T00:00Z", true],
    // A step beyond the last value names the first alone.
    ["*/90 * * * *", "5m", "2026-05-06T09:04Z", true],
    ["*/90 * * * *", "5m", "2026-05-06T09:34Z", false],
    ["*/20 * * * *", "5m", "2026-05-06T09:44:59Z", true],
    ["*/20 * * * *", "5m", "2026-05-06T09:45Z", false],
    ["10/20 * * * *", "5m", "2026-05-06T09:52Z", true],
    ["10-30/20 * * * *", "5m", "2026-05-06T09:52Z", false],
    ["5,,7 * * * *", "1m", "2026-05-06T09:07:30Z", true],
    ["05 09 06 05 *", "1m", "2026-05-06T09:05:30Z", true],
    ["  0   9 *\t* * ", "1h", "2026-05-06T09:30Z", true],
    ["@hourly", "1m", "2026-05-06T09:00:59Z", true],
    ["@daily", "1h", "2026-05-06T00:30Z", true],
    ["@midnight", "1h", "2026-05-06T01:00Z", false],
    ["@weekly", "1h", "2026-05-10T00:30Z", true],
    ["@weekly", "1h", "2026-05-11T00:30Z", false],
    ["@monthly", "1h", "2026-05-01T00:30Z", true],
    ["@yearly", "1h", "2026-01-01T00:30Z", true],
    ["@annually", "1h", "2026-02-01T00:30Z", false],
    ["CRON_TZ=Asia/Tokyo 0 9 * * *", "1h", "2026-05-06T00:30Z", true],
    ["TZ=Asia/Tokyo @daily", "1h", "2026-05-06T15:30Z", true],
    // Long ones.
    ["0 0 1 * *", "504h", "2026-05-21T23:59Z", true],
    ["0 0 1 * *", "504h", "2026-05-22T00:00Z", false],
    ["0 0 29 2 *", "1h", "2104-02-29T00:30Z", true],
    ["0 0 29 2 *", "69000h", "2103-12-01T00:30Z", true],
    ["0 0 31 2 *", "1000000h", "2026-05-21T23:59Z", false],
    // These days do not exist.
    ["0 0 31 2,4,6,9,11 *", "8h", "2026-11-17T14:30Z", false],
    ["0 0 31 2,4,6,9,11 WED", "8h", "2026-05-06T00:30Z", false],
    ["0 0 31 2,4,6,9,11 WED", "8h", "2026-06-03T00:30Z", true],
    ["0 0 * * *", "0.5s", "2026-05-06T00:00:00.499Z", true],
    ["0 0 * * *", "0.5s", "2026-05-06T00:00:00.500Z", false],
  ])("of %s for %s at %s: %s", (schedule, duration, at, expected) => {
    expect(within(schedule, duration, at)).toBe(expected);
  });

  test.each([
    ["", "0 fields"],
    ["* * * *", "4 fields"],
    ["0 0 0 * * *", "6 fields"],
    ["60 * * * *", 'minute is "60"'],
    ["* 24 * * *", 'hour is "24"'],
    ["* * 0 * *", 'day of month is "0"'],
    ["* * 32 * *", 'day of month is "32"'],
    ["* * * 13 *", 'month is "13"'],
    ["* * * * 8", 'day of week is "8"'],
    ["* * * * FRI-SUN", 'day of week is "FRI-SUN"'],
    ["* * * MON *", 'month is "MON"'],
    ["5-1 * * * *", 'minute is "5-1"'],
    ["*/0 * * * *", 'minute is "*/0"'],
    ["7/0 * * * *", 'minute is "7/0"'],
    ["* 7/0 * * *", 'hour is "7/0"'],
    ["* * 7/00 * *", 'day of month is "7/00"'],
    ["* * * 7/0 *", 'month is "7/0"'],
    ["* * * * 7/0", 'day of week is "7/0"'],
    ["1-2-3 * * * *", 'minute is "1-2-3"'],
    ["1/2/3 * * * *", 'minute is "1/2/3"'],
    ["*-5 * * * *", 'minute is "*-5"'],
    ["-1 * * * *", 'minute is "-1"'],
    ["1.5 * * * *", 'minute is "1.5"'],
    [", * * * *", 'minute is ","'],
    ["L * * * *", 'minute is "L"'],
    ["* * L * *", 'day of month is "L"'],
    ["* * 15W * *", 'day of month is "15W"'],
    ["* * * * FRI#2", 'day of week is "FRI#2"'],
    ["@every 1h", "@every 1h"],
    ["@reboot", "@reboot"],
    ["@Daily", "@Daily"],
    ["0,".repeat(300), "512"],
  ])("cannot begin at %j, and says why", (schedule, fault) => {
    const error = within(schedule, "1h", "2026-05-06T00:00Z");
    expect(error).toContain("enabledPeriod.schedule");
    expect(error).toContain(fault);
  });

  test.each(["", "0", "0s", "-1h", "8", "soon", "1".repeat(100_000)])("cannot last %j", (duration) => {
    expect(within("@daily", duration.slice(0, 200), "2026-05-06T00:00Z")).toContain("enabledPeriod.duration");
    expect(within("@daily", duration, "2026-05-06T00:00Z")).toContain("enabledPeriod.duration");
  });

  test("needs a time zone that there is, and one alone", () => {
    expect(within("@daily", "1h", "2026-05-06T00:00Z", "Mars/Olympus")).toContain("time zone");
    expect(within("TZ=Mars/Olympus @daily", "1h", "2026-05-06T00:00Z")).toContain("time zone");
    expect(within("TZ=UTC @daily", "1h", "2026-05-06T00:00Z", "UTC")).toContain("enabledPeriod.timeZone");
  });
});

describe("in a time zone an enabled period", () => {
  test.each([
    ["0 9 * * *", "1h", "2026-05-06T00:30Z", "Asia/Tokyo", true],
    ["0 9 * * *", "1h", "2026-05-06T09:30Z", "Asia/Tokyo", false],
    ["0 0 * * *", "1h", "2026-05-05T18:15Z", "Asia/Kathmandu", true],
    ["0 0 1 * *", "1h", "2026-04-30T10:30Z", "Pacific/Kiritimati", true],
    ["0 9 * * MON-FRI", "8h", "2026-05-08T23:00Z", "America/Los_Angeles", true],
    // Summer and winter.
    ["0 9 * * *", "1h", "2026-01-06T14:30Z", "America/New_York", true],
    ["0 9 * * *", "1h", "2026-07-06T13:30Z", "America/New_York", true],
    // New York, 8 March 2026: from 02:00 to 03:00 at 07:00Z. What is skipped begins then.
    ["30 2 * * *", "1h", "2026-03-08T06:59Z", "America/New_York", false],
    ["30 2 * * *", "1h", "2026-03-08T07:00Z", "America/New_York", true],
    ["30 2 * * *", "1h", "2026-03-08T07:59Z", "America/New_York", true],
    ["30 2 * * *", "1h", "2026-03-08T08:00Z", "America/New_York", false],
    ["30 2 * * *", "24h", "2026-03-08T20:00Z", "America/New_York", true],
    // Each hour at half past: there is none between 01:30 and 03:30 there.
    ["30 * * * *", "10m", "2026-03-08T06:35Z", "America/New_York", true],
    ["30 * * * *", "10m", "2026-03-08T07:05Z", "America/New_York", false],
    ["30 * * * *", "10m", "2026-03-08T07:35Z", "America/New_York", true],
    // Around it.
    ["0 1 * * *", "1h", "2026-03-08T06:30Z", "America/New_York", true],
    ["0 3 * * *", "1h", "2026-03-08T07:30Z", "America/New_York", true],
    ["0 22 * * *", "8h", "2026-03-08T10:59Z", "America/New_York", true],
    ["0 22 * * *", "8h", "2026-03-08T11:00Z", "America/New_York", false],
    // New York, 1 November 2026: from 02:00 to 01:00 at 06:00Z. 01:30 occurs twice.
    ["30 1 * * *", "10m", "2026-11-01T05:35Z", "America/New_York", true],
    ["30 1 * * *", "10m", "2026-11-01T06:05Z", "America/New_York", false],
    ["30 1 * * *", "10m", "2026-11-01T06:35Z", "America/New_York", true],
    ["0 1 * * *", "10m", "2026-11-01T06:05Z", "America/New_York", true],
    ["0 2 * * *", "10m", "2026-11-01T06:05Z", "America/New_York", false],
    ["30 2 * * *", "10m", "2026-11-01T06:35Z", "America/New_York", false],
    ["30 2 * * *", "10m", "2026-11-01T07:35Z", "America/New_York", true],
    // Lord Howe, 4 October 2026: half an hour forward, from 02:00 to 02:30 at 15:30Z of the day before.
    ["15 2 * * *", "5m", "2026-10-03T15:30Z", "Australia/Lord_Howe", true],
    ["15 2 * * *", "5m", "2026-10-03T15:35Z", "Australia/Lord_Howe", false],
    // Beirut, 29 March 2026: midnight is skipped at 22:00Z of the day before. Back over midnight on 25 October at
    // 21:00Z.
    ["0 0 29 3 *", "1h", "2026-03-28T22:30Z", "Asia/Beirut", true],
    ["0 0 28 3 *", "1h", "2026-03-28T22:30Z", "Asia/Beirut", false],
    ["30 23 24 10 *", "10m", "2026-10-24T20:35Z", "Asia/Beirut", true],
    ["30 23 24 10 *", "10m", "2026-10-24T21:35Z", "Asia/Beirut", true],
    // St. John's, 7 November 2010: back from 00:01 to 23:01 of the day before at 02:31Z.
    ["0 0 7 11 *", "20m", "2010-11-07T02:45Z", "America/St_Johns", true],
    ["0,10 0,23 * * *", "10m", "2010-11-07T02:45Z", "America/St_Johns", true],
    ["0 0 7 11 *", "20m", "2010-11-07T03:45Z", "America/St_Johns", true],
    // Samoa had no 30 December 2011.
    ["0 12 30 12 *", "1h", "2011-12-30T10:30Z", "Pacific/Apia", true],
    ["0 12 30 12 *", "1h", "2011-12-30T11:00Z", "Pacific/Apia", false],
  ])("of %s for %s at %s in %s: %s", (schedule, duration, at, timeZone, expected) => {
    expect(within(schedule, duration, at, timeZone)).toBe(expected);
  });
});

/** The wall clock of a zone, to the minute, as Intl prints it. */
function wallOf(timeZone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" });
  return (instant) => Date.parse(`${format.format(instant).replace(" ", "T")}Z`);
}

/** One field, as a test and as text, made without the parser. */
interface FieldCase {
  readonly text: string;
  readonly fits: (value: number) => boolean;
  readonly isStar: boolean;
}

const star: FieldCase = { text: "*", fits: () => true, isStar: true };

function field(min: number, max: number): fc.Arbitrary<FieldCase> {
  const value = fc.integer({ min, max });
  const part = fc.oneof(
    value.map((one) => ({ text: String(one), fits: (it: number) => it === one })),
    fc.tuple(value, value, fc.integer({ min: 1, max: 20 })).map(([a, b, step]) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)];
      const fits = (it: number) => it >= low && it <= high && (it - low) % step === 0;
      return { text: `${low}-${high}/${step}`, fits };
    }),
    fc
      .integer({ min: 2, max: 20 })
      .map((step) => ({ text: `*/${step}`, fits: (it: number) => (it - min) % step === 0 })),
  );
  const list = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => ({
    text: parts.map(({ text }) => text).join(","),
    fits: (it: number) => parts.some(({ fits }) => fits(it)),
    isStar: false,
  }));
  return fc.oneof({ weight: 2, arbitrary: fc.constant(star) }, { weight: 3, arbitrary: list });
}

const fields = fc.record({
  minute: field(0, 59),
  hour: field(0, 23),
  day: field(1, 31),
  month: fc.oneof({ weight: 4, arbitrary: fc.constant(star) }, { weight: 1, arbitrary: field(1, 12) }),
  weekday: field(0, 6),
});

type Fields = typeof fields extends fc.Arbitrary<infer T> ? T : never;

function fitsAt({ minute, hour, day, month, weekday }: Fields, wall: number): boolean {
  const date = new Date(wall);
  const [byDay, byWeekday] = [day.fits(date.getUTCDate()), weekday.fits(date.getUTCDay())];
  const isDay = day.isStar || weekday.isStar ? byDay && byWeekday : byDay || byWeekday;
  const isTime = minute.fits(date.getUTCMinutes()) && hour.fits(date.getUTCHours());
  return isTime && isDay && month.fits(date.getUTCMonth() + 1);
}

/** Looks at each minute of the duration before, and at each that the clock has skipped meanwhile. */
function oracle(schedule: Fields, minutes: number, now: number, wall: (instant: number) => number): boolean {
  const isHourly = Array.from({ length: 24 }, (_, hour) => hour).every((hour) => schedule.hour.fits(hour));
  let before = wall(now - minutes * MINUTE);
  for (let instant = now - (minutes - 1) * MINUTE; instant <= now; instant += MINUTE) {
    const shown = wall(instant);
    if (fitsAt(schedule, shown)) return true;
    if (!isHourly)
      for (let skipped = before + MINUTE; skipped < shown; skipped += MINUTE)
        if (fitsAt(schedule, skipped)) return true;
    before = shown;
  }
  return false;
}

const ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Beirut", "America/Havana", "Asia/Kathmandu", "Africa/Casablanca", "America/Nuuk", "America/St_Johns"]; // prettier-ignore

/** Days around which clocks change somewhere of the above, and some others. */
const DAYS = ["2026-03-07", "2026-03-08", "2026-03-28", "2026-03-29", "2026-04-05", "2026-10-03", "2026-10-24", "2026-10-25", "2026-11-01", "2010-11-07", "2026-02-28", "2024-02-29", "2026-12-31", "2026-06-15"]; // prettier-ignore

describe("the answer, for any schedule and zone,", () => {
  const agree = (maxMinutes: number, runs: number) => () =>
    fc.assert(
      fc.property(
        fields,
        fc.constantFrom(...ZONES),
        fc.constantFrom(...DAYS),
        fc.integer({ min: -720, max: 2160 }),
        fc.integer({ min: 1, max: maxMinutes }),
        (schedule, timeZone, day, offset, minutes) => {
          const now = Date.parse(day) + offset * MINUTE;
          const { minute, hour, day: dayOfMonth, month, weekday } = schedule;
          const text = [minute, hour, dayOfMonth, month, weekday].map((one) => one.text).join(" ");
          const answer = isWithin({ schedule: text, duration: `${minutes}m`, timeZone }, now);
          expect({ text, timeZone, now, minutes, ...answer }).toEqual({
            ...{ text, timeZone, now, minutes },
            within: oracle(schedule, minutes, now, wallOf(timeZone)),
          });
        },
      ),
      { numRuns: runs },
    );

  test("is that of looking at each minute of the last hours", agree(180, 800));
  test("is that of looking at each minute of the last days", agree(4 * 24 * 60, 40));
});
