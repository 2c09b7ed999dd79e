import { expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import { WatchBackoff } from "./watch-backoff.ts";

const fixed = (value: number) => () => value;

test("waits from 0.8 s up to 30 s, with a jitter of half", async () => {
  const clock = new FakeClock();
  const [early, late] = [new WatchBackoff(clock, fixed(0)), new WatchBackoff(clock, fixed(1))];
  const waits: [number, number][] = [];
  for (let failure = 0; failure < 8; failure++) {
    const wait = late.afterFailure();
    waits.push([early.afterFailure(), wait]);
    await clock.advance(wait);
  }
  expect(waits).toEqual([
    [800, 1600],
    [1600, 3200],
    [3200, 6400],
    [6400, 12_800],
    [12_800, 25_600],
    [15_000, 30_000],
    [15_000, 30_000],
    [15_000, 30_000],
  ]);
});

test("starts again at the shortest wait after two minutes without a failure, and not sooner", async () => {
  const clock = new FakeClock();
  const backoff = new WatchBackoff(clock, fixed(0));
  await clock.advance(backoff.afterFailure());
  await clock.advance(120_000);
  expect(backoff.afterFailure()).toBe(1600);
  await clock.advance(1600 + 120_001);
  expect(backoff.afterFailure()).toBe(800);
});

test("waits as long as the server asks, but not longer than its cap", () => {
  const backoff = new WatchBackoff(new FakeClock(), fixed(0));
  expect(backoff.afterFailure(5000)).toBe(5000);
  expect(backoff.afterFailure(1e9)).toBe(30_000);
});

test("opens a watch that worked again without a wait, until the tokens are used up", () => {
  const backoff = new WatchBackoff(new FakeClock(), fixed(0));
  const waits = Array.from({ length: 12 }, () => backoff.afterUse());
  expect(waits).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 800, 1600]);
});
