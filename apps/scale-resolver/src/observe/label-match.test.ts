import { describe, expect, test } from "@jest/globals";
import type { LabelSelector } from "@evenkeel/api";
import { chooses, selectorFaults } from "./label-match.ts";

const labels = { app: "web", tier: "front" };

describe("a selector of labels", () => {
  test.each<[string, LabelSelector, boolean]>([
    ["says nothing", {}, true],
    ["has the same value", { matchLabels: { app: "web" } }, true],
    ["has another value", { matchLabels: { app: "web", tier: "back" } }, false],
    ["wants a label that is not there", { matchLabels: { team: "a" } }, false],
    ["lists the value", { matchExpressions: [{ key: "app", operator: "In", values: ["api", "web"] }] }, true],
    ["lists others", { matchExpressions: [{ key: "app", operator: "In", values: ["api"] }] }, false],
    ["excludes the value", { matchExpressions: [{ key: "app", operator: "NotIn", values: ["web"] }] }, false],
    [
      "excludes a value of a label that is not there",
      { matchExpressions: [{ key: "x", operator: "NotIn", values: ["1"] }] },
      true,
    ],
    ["wants a label that is there", { matchExpressions: [{ key: "app", operator: "Exists" }] }, true],
    ["wants no such label", { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] }, false],
    [
      "has both parts, of which one fails",
      { matchLabels: { app: "web" }, matchExpressions: [{ key: "x", operator: "Exists" }] },
      false,
    ],
    [
      "has an operator that nobody knows",
      { matchExpressions: [{ key: "app", operator: "Like", values: ["w"] }] },
      false,
    ],
  ])("that %s chooses accordingly", (_name, selector, chosen) => {
    expect(chooses(selector, labels)).toBe(chosen);
  });

  test("is told what is wrong with it", () => {
    const matchExpressions = [
      { key: "app", operator: "Like", values: ["w"] },
      { key: "app", operator: "toString" },
      { key: "app", operator: "In" },
      { key: "app", operator: "Exists", values: ["w"] },
      { key: "app", operator: "NotIn", values: ["w"] },
    ];
    expect(selectorFaults({ matchExpressions })).toEqual([
      'matchExpressions[0].operator: expected In, NotIn, Exists or DoesNotExist, not "Like"',
      'matchExpressions[1].operator: expected In, NotIn, Exists or DoesNotExist, not "toString"',
      "matchExpressions[2].values: In of app needs at least one",
      "matchExpressions[3].values: Exists of app takes none",
    ]);
  });
});
