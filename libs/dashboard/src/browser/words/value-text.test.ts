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
  expect([valueText({ a: null }), shareText(0.2424)]).toEqual(["a unknown", "24.2 %"]);
});

test.each([
  [123456.7, "123,457"],
  ["east", "east"],
  [[], "none"],
  [["shop/a-1", "shop/a-2", "shop/b-1", "shop/b-2"], "shop/a-1, shop/a-2 and 2 more"],
  [{ collectors: ["a", "b", "c"], moves: 2 }, "3 collectors, 2 moves"],
  [[{ cluster: "tokyo", replicas: 4, reason: "Weighted" }], "tokyo 4"],
])("the value %j is written %s", (value, text) => {
  expect(valueText(value)).toBe(text);
});

test("a count is a number where there is one", () => {
  expect([count("0"), count("1234"), count(undefined)]).toEqual([0, 1234, null]);
});
