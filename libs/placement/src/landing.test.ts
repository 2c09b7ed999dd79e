import { describe, expect, test } from "@jest/globals";
import { node, shape } from "./testing/shapes.ts";
import { nodesToFind } from "./landing.ts";
import { Placement } from "./placement.ts";

test.each([
  [1, 1],
  [99, 99],
  [100, 100],
  [150, 100],
  [250, 120],
  [1000, 420],
  [5000, 500],
  [6000, 300],
])("of %p nodes the scheduler scores %p", (nodes, scored) => {
  expect(nodesToFind(nodes)).toBe(scored);
});

describe("a landing", () => {
  const sum = (probabilities: readonly { readonly probability: number }[]) =>
    probabilities.reduce((total, { probability }) => total + probability, 0);

  test("is certain where all nodes are scored and one is best", () => {
    const model = new Placement([node("a"), node("b")], [shape({ cpu: "1" })]);
    model.add(0, 0);
    expect(model.landing(0)).toEqual([{ node: 1, probability: 1 }]);
  });

  test("is uncertain where only some of the nodes are scored", () => {
    const allocatable = { cpu: 10_000, memory: 10_000 * 2 ** 20, pods: 110 };
    const nodes = Array.from({ length: 400 }, (_, index) => node(`n${index}`, { allocatable }));
    const model = new Placement(nodes, [shape({ cpu: "100m", memory: "100Mi" })]);
    nodes.forEach((_, index) => {
      for (let count = 0; count < Math.min(index, 90); count++) model.add(0, index);
    });
    const landing = model.landing(0);
    // 188 of 400 nodes are scored: the best node is among them with 0.47, else the second best, and so on.
    expect(landing[0]).toEqual({ node: 0, probability: 188 / 400 });
    expect(landing[1]?.probability).toBeCloseTo((212 / 400) * (188 / 399), 10);
    expect(sum(landing)).toBeCloseTo(1, 3);
  });

  test("names at most as many nodes as are asked for, which stand for the others of their score", () => {
    const nodes = Array.from({ length: 200 }, (_, index) => node(`n${index}`));
    const landing = new Placement(nodes, [shape({ cpu: "1" })]).landing(0, 10);
    expect(landing).toHaveLength(10);
    expect(sum(landing)).toBeCloseTo(1, 10);
  });

  test("is empty for a pod whose choice is not modelled", () => {
    const model = new Placement([node("a")], [shape({}, { schedulerName: "mine" })]);
    expect([model.landing(0), model.whyNot(0, 0)]).toEqual([[], "Unmodelled"]);
  });
});
