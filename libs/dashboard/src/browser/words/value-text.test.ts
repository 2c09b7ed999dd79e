import { expect, test } from "@jest/globals";
import { count, numberText, shareText, valueText } from "./value-text.ts";

test.each([
  [16, "16"],
  [0, "0"],
  [0.123456, "0.1235"],
  [41.98765, "41.99"],
  [123456.7, "123,457"],
  [null, "–"],
  [NaN, "–"],
])("%p is written %s", (value, text) => {
  expect(numberText(value)).toBe(text);
});

test("what is unknown is never written as zero", () => {
  expect([valueText(null), valueText(undefined), shareText(null), numberText(undefined)]).toEqual(["–", "–", "–", "–"]);
  expect([valueText({ a: 1 }), valueText("x"), shareText(0.2424)]).toEqual(['{"a":1}', "x", "24.2 %"]);
});

test("a count is a number where there is one", () => {
  expect([count("0"), count("1234"), count(undefined)]).toEqual([0, 1234, null]);
});
