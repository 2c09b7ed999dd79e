import { describe, expect, test } from "@jest/globals";
import { parseFieldSelector } from "./field-selector.ts";

describe("a field selector", () => {
  const selectable = ["metadata.name", "spec.nodeName", "spec.unschedulable"];
  const object = { metadata: { name: "a" }, spec: { unschedulable: true } };

  test.each([
    ["", true],
    ["metadata.name=a", true],
    ["metadata.name==a", true],
    ["metadata.name!=a", false],
    ["spec.nodeName=", true],
    ["spec.unschedulable=true", true],
    ["metadata.name=a,spec.nodeName=b", false],
  ])("%s chooses an object: %s", (text, chosen) => {
    expect(parseFieldSelector(text, selectable)(object)).toBe(chosen);
  });

  test("names only fields that can be selected by", () => {
    expect(() => parseFieldSelector("data.a=b", selectable)).toThrow("field label not supported: data.a");
  });

  test("has terms", () => {
    expect(() => parseFieldSelector("metadata.name", selectable)).toThrow("invalid selector");
  });
});
