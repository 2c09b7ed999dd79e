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

test.each([
  [null, ""],
  [undefined, ""],
  [0, "0"],
  ["east", "east"],
  [[], "none"],
  [["shop/a-1", "shop/a-2", "shop/b-1", "shop/b-2"], "shop/a-1, shop/a-2 and 2 more"],
  [{ collectors: ["a", "b", "c"], moves: 2 }, "3 collectors, 2 moves"],
])("the value %j is shown as %j", (value, text) => {
  expect(valueText(value)).toBe(text);
});

test("a sentence gets the full stop that it lacks and no second one", () => {
  expect(sentence("it holds")).toBe("it holds.");
  expect(sentence("it holds.")).toBe("it holds.");
  expect(sentence("")).toBe("");
});
