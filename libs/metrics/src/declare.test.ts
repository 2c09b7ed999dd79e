import { describe, expect, test } from "@jest/globals";
import { counter, gauge, histogram, oneOf } from "./index.ts";

describe("a declaration that would mislead is refused", () => {
  test.each([
    ["a counter without _total", () => counter("moves", "Moves.", {}), /_total/],
    ["a gauge with _total", () => gauge("moves_total", "Moves.", {}), /_total/],
    ["a histogram without a unit", () => histogram("latency", "Latency.", {}, [1]), /unit/],
    ["an upper-case name", () => gauge("Healty", "Health.", {}), /snake_case/],
    ["a name that Prometheus does not take", () => gauge("a-b", "A.", {}, { inherited: true }), /Prometheus/],
    ["an empty help text", () => gauge("depth", " ", {}), /help/],
    ["a closed label without values", () => gauge("depth", "Depth.", { side: oneOf() }), /no values/],
    ["the label le", () => gauge("depth", "Depth.", { le: oneOf("1") }), /"le" cannot be a label/],
    ["buckets that do not ascend", () => histogram("took_seconds", "Time.", {}, [1, 1]), /ascend/],
  ])("%s", (_case, declare, message) => {
    expect(declare).toThrow(message);
  });
});

test("a name inherited from an original project may break the naming rules", () => {
  expect(gauge("rebalancer_Weight_total", "Weight.", {}, { inherited: true }).name).toBe("rebalancer_Weight_total");
});
