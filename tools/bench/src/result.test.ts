import { expect, test } from "@jest/globals";
import { barred, figure, median, resultTable, updated } from "./result.ts";

test.each([
  [2.9, "<= 3", true],
  [3.1, "<= 3", false],
  [5, ">= 5", true],
  [4.9, ">= 5", false],
  [NaN, "<= 3", false],
  [NaN, ">= 3", false],
])("%d against the bar %s is ok: %s", (value, bar, ok) => {
  expect(barred("x", value, "ratio", bar).ok).toBe(ok);
});

test("a bar that cannot be read is refused, since it could not be missed", () => {
  expect(() => barred("x", 1, "ratio", "about 3")).toThrow("about 3");
});

test("the median of an even count is the mean of the middle two", () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([3, 1, 2])).toBe(2);
  expect(median([])).toBeNaN();
});

test("the table marks what missed its bar", () => {
  const table = resultTable([figure("plain", 1234.5, "ms"), barred("ratio", 7, "ratio", "<= 3")]);
  expect(table.split("\n")).toEqual(["plain  1230  ms", "ratio     7  ratio  <= 3  MISSED"]);
});

test("figures of a part replace the earlier ones, and the others stay", () => {
  const earlier = [figure("a", 1, ""), figure("b", 2, "")];
  const found = [figure("c", 3, ""), figure("a", 4, "")];
  expect(updated(earlier, found).map(({ measure, value }) => [measure, value])).toEqual([
    ...[
      ["a", 4],
      ["b", 2],
      ["c", 3],
    ],
  ]);
});
