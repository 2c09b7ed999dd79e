import { describe, expect, test } from "@jest/globals";
import { ageText, sentence, spanText, valueText } from "./words.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

test.each([
  [0, "0s"],
  [999, "0s"],
  [119 * second, "119s"],
  [120 * second, "2m"],
  [9 * minute + 59 * second, "9m59s"],
  [10 * minute, "10m"],
  [119 * minute, "119m"],
  [2 * hour, "2h"],
  [9 * hour + 5 * minute, "9h5m"],
  [47 * hour, "47h"],
  [48 * hour, "2d"],
  [-5 * second, "0s"],
])("%d ms are %s", (milliseconds, text) => {
  expect(spanText(milliseconds)).toBe(text);
});

describe("an age", () => {
  test("is told of a time, and is empty without one", () => {
    const now = Date.parse("2026-01-01T00:03:00Z");
    expect(ageText("2026-01-01T00:00:00.000Z", now)).toBe("3m");
    expect(ageText(undefined, now)).toBe("");
    expect(ageText("soon", now)).toBe("");
  });
});

/** As endpoint-proxy decides about a workload. */
function parts(tokyo: number, nagoya: number, osaka: number): readonly object[] {
  return Object.entries({ tokyo, nagoya, osaka }).map(([cluster, replicas]) => ({
    ...{ cluster, replicas, reason: "Weighted", note: "38 W" },
  }));
}

test.each([
  [null, ""],
  [0, "0"],
  ["east", "east"],
  [{ a: 1 }, '{"a":1}'],
  [[], "[]"],
  [[{ cluster: "a" }], '[{"cluster":"a"}]'],
  [[null, 1], "[null,1]"],
  [parts(4, 0, 3), "tokyo 4, osaka 3"],
  [parts(0, 0, 0), "none"],
])("the value %p is shown as %p", (value, text) => {
  expect(valueText(value)).toBe(text);
});

test("a sentence gets the full stop that it lacks and no second one", () => {
  expect(sentence("it holds")).toBe("it holds.");
  expect(sentence("it holds.")).toBe("it holds.");
  expect(sentence("")).toBe("");
});
