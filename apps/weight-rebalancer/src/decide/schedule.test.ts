import { describe, expect, jest, test } from "@jest/globals";
import { openWindow } from "./schedule.ts";
import type { ScheduledWindow, Weekday } from "./snapshot.ts";

function window(startTime: string, endTime: string, days: readonly Weekday[] = [], value = 10): ScheduledWindow {
  return { startTime, endTime, value, days };
}

const isOpen = (windows: readonly ScheduledWindow[], timeZone: string, at: string) =>
  openWindow(windows, timeZone, Date.parse(at)) !== undefined;

describe("a window", () => {
  test.each<[string, ScheduledWindow, string, boolean]>([
    ["opens with its first minute", window("09:00", "17:00"), "2026-11-16T09:00:00Z", true],
    ["is shut a second before", window("09:00", "17:00"), "2026-11-16T08:59:59Z", false],
    ["is open to its last second", window("09:00", "17:00"), "2026-11-16T16:59:59Z", true],
    ["is shut from its end on", window("09:00", "17:00"), "2026-11-16T17:00:00Z", false],
    ["may be written with one digit", window("9:00", "9:30"), "2026-11-16T09:15:00Z", true],
    ["over midnight is open before it", window("22:00", "02:00"), "2026-11-16T23:59:00Z", true],
    ["over midnight is open after it", window("22:00", "02:00"), "2026-11-17T01:59:59Z", true],
    ["over midnight is shut by day", window("22:00", "02:00"), "2026-11-17T02:00:00Z", false],
    ["to midnight ends there", window("22:00", "00:00"), "2026-11-17T00:00:00Z", false],
    ["from midnight begins there", window("00:00", "02:00"), "2026-11-17T00:00:00Z", true],
    ["with equal ends never opens", window("00:00", "00:00"), "2026-11-16T13:37:00Z", false],
    ["from midnight to midnight is the whole day", window("00:00", "24:00"), "2026-11-16T23:59:59Z", true],
    ["on Monday is open on Monday", window("09:00", "17:00", ["Mon"]), "2026-11-16T12:00:00Z", true],
    ["on Tuesday is shut on Monday", window("09:00", "17:00", ["Tue"]), "2026-11-16T12:00:00Z", false],
    ["that begins on Friday night goes into Saturday", window("22:00", "02:00", ["Fri"]), "2026-11-21T01:00:00Z", true],
    [
      "that begins on Friday night is shut in its small hours",
      window("22:00", "02:00", ["Fri"]),
      "2026-11-20T01:00:00Z",
      false,
    ],
    ["that begins on Sunday night goes into Monday", window("22:00", "02:00", ["Sun"]), "2026-11-16T01:00:00Z", true],
  ])("%s", (_sentence, scheduled, at, open) => {
    expect(isOpen([scheduled], "UTC", at)).toBe(open);
  });

  test("is told by the clock on the wall of its time zone, weekday and all", () => {
    const mornings = [window("08:00", "09:00", ["Mon"])];
    expect(isOpen(mornings, "Asia/Tokyo", "2026-11-15T23:30:00Z")).toBe(true);
    expect(isOpen(mornings, "UTC", "2026-11-15T23:30:00Z")).toBe(false);
    expect(isOpen(mornings, "Asia/Kolkata", "2026-11-16T02:30:00Z")).toBe(true);
  });

  test("of the greatest value counts where several are open, and none where none is", () => {
    const windows = [
      window("09:00", "17:00", [], 10),
      window("12:00", "13:00", [], 30),
      window("11:00", "14:00", [], 20),
    ];
    expect(openWindow(windows, "UTC", Date.parse("2026-11-16T12:30:00Z"))?.value).toBe(30);
    expect(openWindow(windows, "UTC", Date.parse("2026-11-16T13:30:00Z"))?.value).toBe(20);
    expect(openWindow(windows, "UTC", Date.parse("2026-11-16T20:00:00Z"))).toBeUndefined();
    expect(openWindow([], "UTC", 0)).toBeUndefined();
  });
});

test("many decisions with windows of one time zone read its rules once", () => {
  const made = jest.spyOn(Intl, "DateTimeFormat");
  const noon = Date.parse("2026-11-16T12:00:00Z");
  for (let minute = 0; minute < 100; minute++)
    openWindow([window("09:00", "17:00")], "Pacific/Chatham", noon + minute * 60_000);
  expect(made).toHaveBeenCalledTimes(1);
  made.mockRestore();
});

test("time zones that are spelled in many ways are not all kept", () => {
  const spellings = Array.from({ length: 128 }, (_, bits) =>
    Array.from("america", (letter, index) => (bits & (1 << index) ? letter.toUpperCase() : letter)).join(""),
  );
  const askAll = () => spellings.forEach((name) => openWindow([window("09:00", "17:00")], `${name}/Lima`, 0));
  askAll();
  const made = jest.spyOn(Intl, "DateTimeFormat");
  askAll();
  expect(made.mock.calls.length).toBeGreaterThan(0);
  made.mockRestore();
});

describe("where the clock is put forward, from 02:00 to 03:00 in New York", () => {
  const open = (scheduled: ScheduledWindow, at: string) => isOpen([scheduled], "America/New_York", at);
  const lastMinuteBefore = "2027-03-14T06:59:00Z";
  const firstMinuteAfter = "2027-03-14T07:00:00Z";

  test("a window inside the skipped hour does not open", () => {
    const skipped = window("02:15", "02:45");
    expect(open(skipped, lastMinuteBefore)).toBe(false);
    expect(open(skipped, firstMinuteAfter)).toBe(false);
    expect(open(skipped, "2027-03-15T06:30:00Z")).toBe(true);
  });

  test("a window that begins in the skipped hour opens with the first minute after", () => {
    expect(open(window("02:30", "04:00"), lastMinuteBefore)).toBe(false);
    expect(open(window("02:30", "04:00"), firstMinuteAfter)).toBe(true);
  });

  test("a window that ends in the skipped hour is shut with the first minute after", () => {
    expect(open(window("22:00", "02:30"), lastMinuteBefore)).toBe(true);
    expect(open(window("22:00", "02:30"), firstMinuteAfter)).toBe(false);
  });
});

describe("where the clock is put back, from 02:00 to 01:00 in New York", () => {
  const open = (scheduled: ScheduledWindow, at: string) => isOpen([scheduled], "America/New_York", at);

  test("a window inside the repeated hour opens twice", () => {
    const repeated = window("01:15", "01:45");
    expect(open(repeated, "2026-11-01T05:30:00Z")).toBe(true);
    expect(open(repeated, "2026-11-01T05:50:00Z")).toBe(false);
    expect(open(repeated, "2026-11-01T06:30:00Z")).toBe(true);
    expect(open(repeated, "2026-11-01T06:50:00Z")).toBe(false);
  });

  test("a window over midnight is open through both", () => {
    expect(open(window("22:00", "02:00"), "2026-11-01T05:30:00Z")).toBe(true);
    expect(open(window("22:00", "02:00"), "2026-11-01T06:59:00Z")).toBe(true);
    expect(open(window("22:00", "02:00"), "2026-11-01T07:00:00Z")).toBe(false);
  });
});
