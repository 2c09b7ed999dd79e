import { describe, expect, test } from "@jest/globals";
import { bar, curvePoints, kneeOf } from "./curve.ts";

const curveOf = (predicted: readonly number[], bound: readonly number[] = predicted) => ({
  curve: { predicted, bound },
});

describe("the curve", () => {
  test.each([
    [0, [0]],
    [2, [0, 1, 2]],
    [10, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [123, [0, 20, 40, 60, 80, 100, 120, 123]],
    [1000, [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]],
  ])("of %d evictions is shown in equal steps", (last, shown) => {
    const predicted = Array.from({ length: last + 1 }, (_, index) => 1 - index / 2000);
    expect(curvePoints(curveOf(predicted)).map(({ evictions }) => evictions)).toEqual(shown);
  });

  test("has bars as long as σ, dark up to the bound", () => {
    expect(bar({ evictions: 0, sigma: 0.3, bound: 0.3 }, 0.3)).toBe("█".repeat(30));
    expect(bar({ evictions: 1, sigma: 0.2, bound: 0.1 }, 0.3)).toBe("█".repeat(10) + "░".repeat(10));
    expect(bar({ evictions: 0, sigma: 0, bound: 0 }, 0)).toBe("");
  });
});

describe("the knee", () => {
  test("is where the plan brings 80 % of what the bound allows", () => {
    expect(kneeOf(curveOf([1, 0.6, 0.3, 0.2, 0.1], [1, 0.5, 0.2, 0.1, 0]))).toEqual({ evictions: 3, share: 0.8 });
  });

  test("is not there if the plan does not bring as much, or nothing is possible", () => {
    expect(kneeOf(curveOf([1, 0.6], [1, 0.5, 0]))).toBeUndefined();
    expect(kneeOf(curveOf([1], [1]))).toBeUndefined();
    expect(kneeOf(curveOf([]))).toBeUndefined();
  });
});
