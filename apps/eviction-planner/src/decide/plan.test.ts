import { expect, test } from "@jest/globals";
import { snapshotOf, type World } from "./fixtures.ts";
import { plan } from "./plan.ts";

/** One hot node with pods of several sizes, and two cold ones. */
const oneHot: World = {
  nodes: [{ name: "a" }, { name: "b" }, { name: "c" }],
  pods: [
    { node: "a", load: 0.4 },
    { node: "a", load: 0.3 },
    { node: "a", load: 0.2 },
    { node: "b", load: 0.2 },
    { node: "c", load: 0.1 },
  ],
};

test("moves the pod that levels most to the node where the scheduler would put it", () => {
  const { moves, sigma, outcome } = plan(snapshotOf(oneHot));
  expect(moves.map(({ pod, from, landings }) => [pod.name, from, landings[0]?.node])).toEqual([["pod-0", "a", "c"]]);
  expect(outcome).toBe("TargetReached");
  expect(sigma?.before).toBeCloseTo(0.3559, 3);
  expect(sigma?.predicted).toBeCloseTo(Math.SQRT2 / 10, 9);
});
