import { expect, test } from "@jest/globals";
import { writeJson } from "./json-text.ts";
import { parseYaml } from "./yaml-text.ts";

test("YAML becomes JSON that keeps the text of numbers", () => {
  const yaml = "exact: 1.0\nbig: 12345678901234567890\nhex: 0x10\ntext: '1'\nwhen: 2026-01-01\nlist: [1, {a: ~}]\n";
  expect(writeJson(parseYaml(yaml))).toBe(
    '{"exact":1.0,"big":12345678901234567890,"hex":16,"text":"1","when":"2026-01-01","list":[1,{"a":null}]}',
  );
});

test("anchors and merge keys are resolved", () => {
  expect(writeJson(parseYaml("a: &x {k: 1, m: 2}\nb: *x\nc: {<<: *x, k: 3}\n"))).toBe(
    '{"a":{"k":1,"m":2},"b":{"k":1,"m":2},"c":{"k":3,"m":2}}',
  );
});

test.each([
  ["a: [1\nb: 2", /line 2, column 1/],
  ["a: 1\n---\nb: 2\n", /one YAML document/],
  ["a: 1\nb: {c: 1,\n  c: 2}\n", /unique at line 3, column 3/],
  ["", /./],
])("what is no single document is refused with the place: %j", (yaml, place) => {
  expect(() => parseYaml(yaml)).toThrow(place);
});

/** Ten levels, each of which names the level before it nine times. */
const nested = (form: (names: string) => string) =>
  Array.from({ length: 10 }, (_, level) =>
    level === 0
      ? "l0: &l0 {}"
      : `l${level}: &l${level} ${form(
          Array(9)
            .fill(`*l${level - 1}`)
            .join(", "),
        )}`,
  ).join("\n");

test.each([
  ["lists of aliases", nested((names) => `[${names}]`), /aliases repeat more/],
  ["merges of aliases", nested((names) => `{<<: [${names}]}`), /aliases repeat more/],
  ["an alias in itself", "a: &a [*a]", /contains itself/],
  ["a merge of itself", "a: &a {b: {<<: *a}}", /contains itself/],
  ["many levels", "[".repeat(600) + "]".repeat(600), /nested/],
  ["levels that the parser has no stack for", "[".repeat(20_000) + "]".repeat(20_000), /nested|call stack/],
])("what a few lines make large is refused: %s", (_what, yaml, why) => {
  expect(() => parseYaml(yaml)).toThrow(SyntaxError);
  expect(() => parseYaml(yaml)).toThrow(why);
});

test("an alias stands for the last anchor before it", () => {
  expect(writeJson(parseYaml("a: &x 1\nb: *x\nc: &x 2\nd: *x\n"))).toBe('{"a":1,"b":1,"c":2,"d":2}');
});
