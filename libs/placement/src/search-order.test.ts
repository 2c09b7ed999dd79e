import { expect, test } from "@jest/globals";
import { node, shape } from "./testing/shapes.ts";
import { Placement } from "./placement.ts";
import { searchOrder, tieOrder } from "./search-order.ts";

const inZone = (name: string, zone: string) => node(name, { labels: { "topology.kubernetes.io/zone": zone } });

test("zones take turns in a search", () => {
  const nodes = [inZone("a1", "a"), inZone("a2", "a"), inZone("a3", "a"), inZone("b1", "b"), node("none")];
  expect(searchOrder(nodes)).toEqual([0, 3, 4, 1, 2]);
  expect(searchOrder([])).toEqual([]);
});

test("a place wins a tie against both of its branches, and the left branch against the right one", () => {
  const places = Array.from({ length: 15 }, (_, index) => index);
  expect(places.toSorted(tieOrder)).toEqual([0, 1, 3, 7, 8, 4, 9, 10, 2, 5, 11, 12, 6, 13, 14]);
});

test("the first of equals is the most likely, and the others share the rest", () => {
  const full = node("full", { allocatable: {} });
  const model = new Placement([full, node("a"), node("b"), node("c")], [shape({ cpu: "1" })]);
  const [first, ...others] = model.landing(0);
  expect(first).toEqual({ node: 1, probability: 0.6 });
  expect(others.map(({ probability }) => probability)).toEqual([0.2, 0.2]);
});
