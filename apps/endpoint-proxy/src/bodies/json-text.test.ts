import { expect, test } from "@jest/globals";
import { at, numberAt, parseJson, sameJson, withValue, without, writeJson } from "./json-text.ts";

test("unknown fields and the text of numbers survive an edit", () => {
  const text = '{"spec":{"replicas":1,"exact":1.0,"big":12345678901234567890,"small":1e-7},"more":[1.50,{"a":-0}]}';
  const edited = writeJson(withValue(parseJson(text), ["spec", "replicas"], 7));
  expect(edited).toBe(text.replace('"replicas":1', '"replicas":7'));
});

test.each([
  "1.0",
  "-0",
  "-0.5",
  "1e3",
  "1E+3",
  "-1e-7",
  "12345678901234567890",
  "-1234567890123456",
  "9007199254740993",
])("the text of number %s survives wherever it stands", (number) => {
  const texts = [number, `[${number}]`, `[1,${number}]`, `{"a":${number}}`, `{"a":"\\"","b":${number},"c":1}`];
  for (const text of texts) expect(writeJson(parseJson(text))).toBe(text);
  for (const text of texts) expect(writeJson(parseJson(text.replaceAll(/([:,])/g, "$1\n ")))).toBe(text);
});

test("what is missing on the way to a value becomes objects", () => {
  expect(writeJson(withValue(parseJson("{}"), ["metadata", "labels", "a.b/c"], "x"))).toBe(
    '{"metadata":{"labels":{"a.b/c":"x"}}}',
  );
});

test("a value is removed, and only that value", () => {
  const json = parseJson('{"metadata":{"uid":"1","name":"a"},"status":{}}');
  expect(writeJson(without(without(json, ["metadata", "uid"]), ["status"]))).toBe('{"metadata":{"name":"a"}}');
  expect(without(json, ["metadata", "other", "deep"])).toEqual(json);
});

test("a field that every object inherits is not a field of the JSON", () => {
  expect(at(parseJson("{}"), ["constructor"])).toBeUndefined();
  expect(at(parseJson('{"__proto__":{"a":1}}'), ["__proto__", "a"])).toBeDefined();
});

test.each([
  ['{"a":1,\n  b}', "line 2 column 3"],
  ['{"a":\n}', "line 2 column 1"],
  ['{"a":[1,2', "line 1 column 10"],
  ['{"a":1} x', "line 1 column 9"],
  ['{"a" 1}', "line 1 column 6"],
  ["", "line 1 column 1"],
  ['["\\q"]', "line 1 column 2"],
])("a syntax error names the place: %j", (text, place) => {
  expect(() => parseJson(text)).toThrow(place);
});

test("numbers are compared by value", () => {
  expect(sameJson(parseJson('{"a":1.0,"b":[1]}'), parseJson('{"b":[1],"a":1}'))).toBe(true);
  expect(sameJson(parseJson('{"a":1}'), parseJson('{"a":1,"b":null}'))).toBe(false);
  expect(numberAt(parseJson('{"a":"1"}'), ["a"])).toBeUndefined();
});

test("JSON that is nested too deep is a SyntaxError, as all else that cannot be read", () => {
  for (const text of ["[".repeat(100_000), `${"[".repeat(100_000)}${"]".repeat(100_000)}`, '{"a":'.repeat(100_000)]) {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  }
});
