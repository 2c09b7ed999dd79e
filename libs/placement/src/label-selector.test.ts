import { describe, expect, test } from "@jest/globals";
import type { LabelSelector } from "./facts.ts";
import { matchesSelector, parseSelector, selectorFaults } from "./label-selector.ts";

const labels = { app: "web", tier: "front" };
const expression = (key: string, operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, ...(values.length === 0 ? {} : { values }) }],
});

describe("a selector of labels", () => {
  test.each<[string, LabelSelector | null, boolean]>([
    ["is null", null, false],
    ["says nothing", {}, true],
    ["has the same value", { matchLabels: { app: "web" } }, true],
    ["has another value", { matchLabels: { app: "web", tier: "back" } }, false],
    ["wants a label that is not there", { matchLabels: { team: "a" } }, false],
    ["wants a label with the name of a method", { matchLabels: { toString: "a" } }, false],
    ["lists the value", expression("app", "In", "api", "web"), true],
    ["lists others", expression("app", "In", "api"), false],
    ["excludes the value", expression("app", "NotIn", "web"), false],
    ["excludes a value of a label that is not there", expression("x", "NotIn", "1"), true],
    ["wants a label that is there", expression("app", "Exists"), true],
    ["wants no such label", expression("app", "DoesNotExist"), false],
    ["has two parts, of which one fails", { matchLabels: { app: "web" }, ...expression("x", "Exists") }, false],
    ["has an unknown operator", expression("app", "Resembles", "web"), false],
    ["has an operator without values", expression("app", "NotIn"), false],
  ])("that %s selects: %p %p", (_, selector, selected) => {
    expect(matchesSelector(selector, labels)).toBe(selected);
    const parsed = parseSelector(selector);
    expect(typeof parsed === "function" && parsed(labels)).toBe(selected);
  });

  test("names its faults", () => {
    const matchExpressions = [
      { key: "app", operator: "Like", values: ["w"] },
      { key: "app", operator: "toString" },
      { key: "app", operator: "In" },
      { key: "app", operator: "Exists", values: ["w"] },
      { key: "app", operator: "NotIn", values: ["w"] },
    ];
    const faults = selectorFaults({ matchExpressions });
    expect(faults.map(({ field }) => field)).toEqual([
      "matchExpressions[0].operator",
      "matchExpressions[1].operator",
      "matchExpressions[2].values",
      "matchExpressions[3].values",
    ]);
    expect(parseSelector({ matchExpressions })).toEqual({ faults });
  });
});
