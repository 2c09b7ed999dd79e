import { expect, test } from "@jest/globals";
import { Movement } from "./movement.ts";

const MINUTE = 60_000;
const level = { maxOverMean: 1.02, minOverMean: 0.98 };

test("moves of one minute are summed, and its last loads count", () => {
  const movement = new Movement();
  movement.note("a", { moved: 3, maxOverMean: 1.5, minOverMean: 0.5 }, 10 * MINUTE + 1000);
  movement.note("a", { moved: 2, ...level }, 10 * MINUTE + 30_000);
  expect(movement.note("a", { moved: 0, ...level }, 12 * MINUTE)).toEqual([
    { at: 10 * MINUTE, moved: 5, ...level },
    { at: 12 * MINUTE, moved: 0, ...level },
  ]);
  expect(movement.note("b", { moved: 1, ...level }, 12 * MINUTE)).toHaveLength(1);
});

test("two hours are kept, and minutes that a clock repeats after a jump are those seen last", () => {
  const movement = new Movement();
  for (let minute = 0; minute < 200; minute += 1) movement.note("a", { moved: 1, ...level }, minute * MINUTE);
  const points = movement.note("a", { moved: 7, ...level }, 190 * MINUTE + 1);
  expect([points.length, points.at(-1)]).toEqual([111, { at: 190 * MINUTE, moved: 8, ...level }]);
  movement.forget("a");
  expect(movement.note("a", { moved: 0, ...level }, 0)).toHaveLength(1);
});
