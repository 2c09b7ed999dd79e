import { expect, test } from "@jest/globals";
import { addresses, instant, number } from "./setting-kinds.ts";

test.each([
  ["3000", 3000],
  ["-0.5", -0.5],
  [".5", 0.5],
  ["1e3", 1000],
  ["3k", undefined],
  ["", undefined],
  ["0x10", undefined],
  ["NaN", undefined],
])("the number %p is %p", (text, value) => {
  expect(number({ help: "" }).kind.parse(text)).toBe(value);
});

test.each([
  ["2026-01-31T17:30:00Z", Date.UTC(2026, 0, 31, 17, 30)],
  ["2026-01-31T17:30+01:00", Date.UTC(2026, 0, 31, 16, 30)],
  ["2026-13-31T17:30:00Z", undefined],
  ["2026-01-31T17:30:00", undefined],
  ["tomorrow", undefined],
])("the time %p is %p", (text, value) => {
  expect(instant({ help: "" }).kind.parse(text)).toBe(value);
});

test("addresses are URLs of HTTP, one or several", () => {
  const parse = (text: string) => (addresses({ help: "" }).kind.parse(text) as readonly URL[] | undefined)?.map(String);
  expect(parse("http://a:1, https://b/path")).toEqual(["http://a:1/", "https://b/path"]);
  expect(parse("a:8080")).toBeUndefined();
  expect(parse("http://a:1,ftp://b")).toBeUndefined();
});
