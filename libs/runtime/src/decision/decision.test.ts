import { describe, expect, test } from "@jest/globals";
import { type Decision, type DecisionFilter, matches, objectKey } from "./decision.ts";

describe("an object's key", () => {
  test("names kind, namespace and name", () => {
    expect(objectKey({ kind: "Rebalance", namespace: "shop", name: "checkout" })).toBe("Rebalance/shop/checkout");
  });

  test("has two parts where there is no namespace", () => {
    expect(objectKey({ kind: "Node", name: "a" })).toBe("Node/a");
  });
});

describe("a filter", () => {
  const decision: Decision = {
    id: "1",
    at: "2026-01-01T00:00:00Z",
    object: { kind: "Rebalance", namespace: "shop", name: "checkout" },
    action: "hold",
    reason: "NoData",
    before: 1,
    after: 1,
    message: "held",
    dryRun: false,
  };
  test.each<[DecisionFilter, boolean]>([
    [{}, true],
    [{ object: undefined, action: undefined, reason: undefined }, true],
    [{ object: "Rebalance/shop/checkout" }, true],
    [{ object: "Rebalance/shop" }, false],
    [{ action: "hold" }, true],
    [{ action: "raise" }, false],
    [{ reason: "NoData" }, true],
    [{ reason: "nodata" }, false],
    [{ object: "Rebalance/shop/checkout", action: "hold", reason: "NoData" }, true],
    [{ object: "Rebalance/shop/checkout", action: "hold", reason: "Paused" }, false],
    [{ action: "" }, false],
  ])("of %j lets the decision pass: %s", (filter, passes) => {
    expect(matches(filter, decision)).toBe(passes);
  });
});
