import { describe, expect, test } from "@jest/globals";
import { bar, curvePoints, kneeOf } from "./curve.ts";

const curveOf = (predicted: readonly number[], bound: readonly number[] = predicted) => ({
  curve: { predicted, bound },
});

describe("the curve", () => {
  test("is shown at a few numbers of evictions, with the first and the last", () => {
    const predicted = Array.from({ length: 124 }, (_, index) => 1 - index / 200);
    expect(curvePoints(curveOf(predicted)).map(({ evictions }) => evictions)).toEqual([
      ...[0, 1, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100, 123],
    ]);
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
