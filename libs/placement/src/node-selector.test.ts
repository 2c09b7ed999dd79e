import { expect, test } from "@jest/globals";
import type { NodeSelectorTerm } from "./facts.ts";
import { matchesTerms } from "./node-selector.ts";

const node = { name: "n1", labels: { zone: "a", tier: "3" } };
const label = (key: string, operator: string, ...values: string[]): NodeSelectorTerm => ({
  matchExpressions: [{ key, operator, values }],
});
const field = (key: string, operator: string, ...values: string[]): NodeSelectorTerm => ({
  matchFields: [{ key, operator, values }],
});

test.each<[string, readonly NodeSelectorTerm[], boolean]>([
  ["no term", [], false],
  ["a term that says nothing", [{}], false],
  ["one of two terms", [label("zone", "In", "b"), label("zone", "In", "a")], true],
  ["all expressions of a term", [{ ...label("zone", "In", "a"), ...field("metadata.name", "In", "n2") }], false],
  ["a label that is missing", [label("rack", "NotIn", "r1")], true],
  ["a label that must not be there", [label("zone", "DoesNotExist")], false],
  ["a number above", [label("tier", "Gt", "2")], true],
  ["a number not below", [label("tier", "Lt", "3")], false],
  ["text where a number is needed", [label("zone", "Gt", "2")], false],
  ["the name", [field("metadata.name", "In", "n1")], true],
  ["another name", [field("metadata.name", "NotIn", "n1")], false],
  ["several names, which the scheduler refuses", [field("metadata.name", "In", "n1", "n2")], false],
  ["an unknown operator", [label("zone", "Like", "a")], false],
])("a node matches %s: %j %p", (_, terms, expected) => {
  expect(matchesTerms(terms, node)).toBe(expected);
});
