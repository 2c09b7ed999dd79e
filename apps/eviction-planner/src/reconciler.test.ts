import { expect, test } from "@jest/globals";
import { DEFAULT_POLICY } from "./decide/fixtures.ts";
import { narrowed } from "./reconciler.ts";

test.each([
  ["all namespaces", undefined, ["a"], ["a"]],
  ["every one by *", ["*"], ["a", "b"], ["a", "b"]],
  ["some", ["b", "c"], ["a", "b"], ["b"]],
  ["none of the watched ones", ["c"], ["a"], [""]],
])("a policy of %s is narrowed to the namespaces whose pods may be evicted", (_what, include, watched, expected) => {
  const spec = { ...DEFAULT_POLICY, namespaces: include === undefined ? {} : { include, exclude: ["x"] } };
  expect(narrowed(spec, watched).namespaces?.include).toEqual(expected);
  expect(narrowed(spec, undefined)).toBe(spec);
});
