import { expect, test } from "@jest/globals";
import { expand, parseTemplate } from "./template.ts";

test.each([
  ["$1", "one"],
  ["${1}x", "onex"],
  ["$1x", ""],
  ["$1é", ""],
  ["$1-x", "one-x"],
  ["$$1", "$1"],
  ["$$$1", "$one"],
  ["$0", "whole"],
  ["$3", ""],
  ["$2", ""],
  ["$01", ""],
  ["$name", "one"],
  ["${name}s", "ones"],
  ["$names", ""],
  ["$", "$"],
  ["a$", "a$"],
  ["${", "${"],
  ["${}", "${}"],
  ["${1", "${1"],
  ["${1}}", "one}"],
  ["$&", "$&"],
  ["$`$'", "$`$'"],
  ["$999999999999", ""],
])("expands %s to %s", (text, expanded) => {
  const template = parseTemplate(text, { count: 2, numbers: new Map([["name", 1]]) });
  expect(expand(template, ["whole", "one", undefined])).toBe(expanded);
});
