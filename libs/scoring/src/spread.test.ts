import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Spread } from "./spread.ts";

function varianceOf(levels: readonly number[]): number {
  const mean = levels.reduce((sum, level) => sum + level, 0) / levels.length;
  return levels.reduce((sum, level) => sum + (level - mean) ** 2, 0) / levels.length;
}

describe("the spread of levels", () => {
  test("is their standard deviation, a root and not a variance", () => {
    const spread = new Spread([0.2, 0.4, 0.6, 0.8]);
    expect(spread.mean).toBeCloseTo(0.5, 12);
    expect(spread.variance).toBeCloseTo(0.05, 12);
    expect(spread.sigma).toBeCloseTo(Math.sqrt(0.05), 12);
  });

  test("is 0 where there is one level or none", () => {
    expect(new Spread([0.7]).sigma).toBe(0);
    expect(new Spread([]).sigma).toBe(0);
  });

  test("of a class is around the mean of the class", () => {
    expect(new Spread([0, 0.2, 0.9, 0.9]).sigmaOf([2, 3])).toBeCloseTo(0, 12);
    expect(new Spread([0, 0.2, 0.9, 0.9]).sigmaOf([0, 1])).toBeCloseTo(0.1, 12);
  });

  test("refuses a level that is not a number", () => {
    expect(() => new Spread([0.1, NaN])).toThrow(expect.objectContaining({ code: "EK_SCORING_BAD_NUMBER" }));
  });
});

const level = fc.double({ min: 0, max: 2, noNaN: true });

describe("a move", () => {
  const world = fc.array(level, { minLength: 2, maxLength: 8 }).chain((levels) =>
    fc.record({
      levels: fc.constant(levels),
      moves: fc.array(
        fc.record({
          from: fc.nat(levels.length - 1),
          to: fc.nat(levels.length - 1),
          taken: level,
          added: level,
        }),
        { maxLength: 30 },
      ),
    }),
  );

  test("changes the variance as it would be computed anew, with shifting mean", () => {
    fc.assert(
      fc.property(world, ({ levels, moves }) => {
        const spread = new Spread(levels);
        const expected = [...levels];
        for (const { from, to, taken, added } of moves) {
          const foreseen = spread.variance + spread.change(from, taken, to, added);
          spread.move(from, taken, to, added);
          if (from !== to) {
            expected[from] = (expected[from] ?? NaN) - taken;
            expected[to] = (expected[to] ?? NaN) + added;
          }
          expect(spread.variance).toBeCloseTo(varianceOf(expected), 8);
          expect(spread.variance).toBeCloseTo(foreseen, 8);
        }
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  test("does not drift over 100,000 moves", () => {
    const spread = new Spread([0.9, 0.1, 0.5]);
    for (let step = 0; step < 100_000; step += 1) {
      spread.move(step % 3, 0.1, (step + 1) % 3, 0.1);
    }
    const levels = [0, 1, 2].map((index) => spread.level(index));
    expect(Math.abs(spread.variance - varianceOf(levels))).toBeLessThan(1e-13);
  });

  test("of a copy leaves the original as it is", () => {
    const spread = new Spread([0.9, 0.1]);
    spread.copy().move(0, 0.4, 1, 0.4);
    expect(spread.sigma).toBeCloseTo(0.4, 12);
  });
});
