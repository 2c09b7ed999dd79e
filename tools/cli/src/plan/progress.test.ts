import { expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import { Progress } from "./progress.ts";

test("is silent for two seconds, and then says something every five", async () => {
  const clock = new FakeClock("2026-01-01T00:00:00Z");
  const said: string[] = [];
  const progress = new Progress(clock, (line) => said.push(line));
  for (let second = 0; second < 14; second++) {
    progress.report(() => String(second));
    await clock.advance(1000);
  }
  expect(said).toEqual(["2", "7", "12"]);
});

test("says something on its own during work, and no more after it", async () => {
  const clock = new FakeClock("2026-01-01T00:00:00Z");
  const said: string[] = [];
  const work = Promise.withResolvers<number>();
  const result = new Progress(clock, (line) => said.push(line)).during(() => "working", work.promise);
  await clock.advance(1999);
  expect(said).toEqual([]);
  await clock.advance(6000);
  expect(said).toEqual(["working", "working"]);
  work.resolve(5);
  expect(await result).toBe(5);
  expect(clock.pending).toBe(0);
});
