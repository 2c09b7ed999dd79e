import { expect, test } from "@jest/globals";
import { parseRangeAnswer } from "./range-answer.ts";

const answer = (resultType: string, result: unknown) =>
  JSON.stringify({ status: "success", data: { resultType, result } });

test("the answer to a range query is its series, each with its samples", () => {
  const values = [
    [60, "1"],
    [120, "NaN"],
  ];
  expect(parseRangeAnswer(answer("matrix", [{ metric: { site: "a" }, values }, { values: [] }]))).toEqual({
    kind: "series",
    series: [
      [
        { seconds: 60, value: "1" },
        { seconds: 120, value: "NaN" },
      ],
      [],
    ],
  });
});

test.each([
  ["no JSON", "<html>"],
  ["a vector", answer("vector", [])],
  ["no list", answer("matrix", {})],
  ["a histogram", answer("matrix", [{ histograms: [] }])],
  ["a pair of other types", answer("matrix", [{ values: [["60", 1]] }])],
])("%s is malformed", (_what, text) => {
  expect(parseRangeAnswer(text)).toMatchObject({ kind: "malformed" });
});

test("an error of the server is passed on", () => {
  const text = JSON.stringify({ status: "error", errorType: "bad_data", error: "exceeded maximum resolution" });
  expect(parseRangeAnswer(text)).toEqual({
    kind: "error",
    errorType: "bad_data",
    error: "exceeded maximum resolution",
  });
});
