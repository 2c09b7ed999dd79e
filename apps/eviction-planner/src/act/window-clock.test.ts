import { FakeClock } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { WindowClock } from "./window-clock.ts";

const HOUR = 3_600_000;

test("without a jump it is the wall clock", async () => {
  const clock = new FakeClock();
  const windows = new WindowClock(clock);
  await clock.advance(90_000);
  expect(windows.now()).toBe(clock.now());
});

test("a jump ahead gives nothing back for an hour, and is then accepted", async () => {
  const clock = new FakeClock();
  const windows = new WindowClock(clock);
  const start = clock.now();
  clock.jump(3 * HOUR);
  expect(windows.now()).toBe(start);
  await clock.advance(HOUR - 1);
  expect(windows.now()).toBe(start + HOUR - 1);
  await clock.advance(1);
  expect(windows.now()).toBe(clock.now());
});

test("a jump back is followed at once, so that windows last longer", () => {
  const clock = new FakeClock();
  const windows = new WindowClock(clock);
  clock.jump(-2 * HOUR);
  expect(windows.now()).toBe(clock.now());
});
