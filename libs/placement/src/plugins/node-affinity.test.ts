import { expect, test } from "@jest/globals";
import { node, shape } from "../testing/shapes.ts";
import { matchesNodeAffinity, nodeAffinityScore, preferredWeight } from "./node-affinity.ts";

const ssd = node("a", { labels: { disk: "ssd", zone: "a" } });
const term = (key: string, value: string) => ({ matchExpressions: [{ key, operator: "In", values: [value] }] });
const required = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});

test.each([
  ["nothing", {}, true],
  ["its label", { nodeSelector: { disk: "ssd" } }, true],
  ["another label", { nodeSelector: { disk: "hdd" } }, false],
  ["one of two terms", required(term("zone", "b"), term("zone", "a")), true],
  ["both a selector and a term", { nodeSelector: { disk: "hdd" }, ...required(term("zone", "a")) }, false],
  ["no term at all", required(), false],
])("a node takes a pod that asks for %s: %j %p", (_, spec, expected) => {
  expect(matchesNodeAffinity(shape({}, spec), ssd)).toBe(expected);
});

test("preferred terms add their weights, in proportion to the most", () => {
  const preferred = [
    { weight: 10, preference: term("disk", "ssd") },
    { weight: 5, preference: term("zone", "a") },
    { weight: 50, preference: term("zone", "b") },
    { weight: 50, preference: {} },
  ];
  const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } };
  expect(preferredWeight(shape({}, { affinity }), ssd)).toBe(15);
  expect([nodeAffinityScore(15, 40), nodeAffinityScore(0, 0), nodeAffinityScore(40, 40)]).toEqual([37, 0, 100]);
});
