import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { rendezvous, type RendezvousNode } from "./rendezvous.ts";

const collectors = (count: number): RendezvousNode[] =>
  Array.from({ length: count }, (_, index) => ({ name: `collector-${index}` }));
const keys = (count: number) => Array.from({ length: count }, (_, index) => `10.${index >> 8}.${index & 255}.7:9090`);

/** How many keys each node owns. */
function owned(nodes: readonly RendezvousNode[], count: number, seed = 0): Map<string | undefined, number> {
  const { owner } = rendezvous(nodes, seed);
  const counts = new Map<string | undefined, number>();
  for (const name of keys(count).map(owner)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

describe("rendezvous hashing", () => {
  test("gives the same owners for ever", () => {
    const { owner } = rendezvous([{ name: "a" }, { name: "b" }, { name: "c", weight: 2.5 }]);
    expect(keys(24).map(owner).join("")).toMatchInlineSnapshot(`"cbccccbcacbaabbcbccbaccc"`);
  });

  test("gives other owners for another seed", () => {
    const [a, b] = [rendezvous(collectors(10), 0), rendezvous(collectors(10), 1)];
    const same = keys(10_000).filter((key) => a.owner(key) === b.owner(key));
    expect(same.length / 10_000).toBeCloseTo(0.1, 1);
  });

  test("has no owner without nodes, or with none that has weight", () => {
    expect(rendezvous([]).owner("key")).toBeUndefined();
    expect(rendezvous([{ name: "a", weight: 0 }]).owner("key")).toBeUndefined();
    expect(rendezvous([]).ranked("key", 3)).toEqual([]);
  });

  test("gives everything to the only node", () => {
    expect(owned([{ name: "a", weight: 1e-200 }], 100)).toEqual(new Map([["a", 100]]));
  });

  test.each([2, 3, 10, 40])("spreads 20,000 keys over %p nodes as evenly as a fair draw", (count) => {
    const counts = owned(collectors(count), 20_000);
    const expected = 20_000 / count;
    const chiSquare = [...counts.values()].reduce((sum, value) => sum + (value - expected) ** 2 / expected, 0);
    const freedom = count - 1;
    expect(counts.size).toBe(count);
    expect(chiSquare).toBeLessThan(freedom + 5 * Math.sqrt(2 * freedom));
    expect(chiSquare).toBeGreaterThan(freedom - 5 * Math.sqrt(2 * freedom));
  });

  test("gives each node keys in proportion to its weight", () => {
    const weights = { a: 0.1, b: 1, c: 2.5, d: 6.4, e: 0 };
    const counts = owned(
      Object.entries(weights).map(([name, weight]) => ({ name, weight })),
      40_000,
    );
    for (const [name, weight] of Object.entries(weights)) {
      const expected = (40_000 * weight) / 10;
      expect(Math.abs((counts.get(name) ?? 0) - expected)).toBeLessThanOrEqual(5 * Math.sqrt(expected));
    }
  });

  test("cares for the proportions of weights, not for their size", () => {
    const scaled = (factor: number) =>
      rendezvous([
        { name: "a", weight: factor },
        { name: "b", weight: 4 * factor },
      ]);
    for (const key of keys(1_000)) {
      expect(scaled(2 ** 600).owner(key)).toBe(scaled(1).owner(key));
      expect(scaled(2 ** -600).owner(key)).toBe(scaled(1).owner(key));
    }
  });

  test("moves keys only to a node that comes, and no more than its fair part of them", () => {
    const [before, after] = [rendezvous(collectors(10)), rendezvous(collectors(11))];
    const moved = keys(20_000).filter((key) => before.owner(key) !== after.owner(key));
    expect(moved.every((key) => after.owner(key) === "collector-10")).toBe(true);
    expect(Math.abs(moved.length - 20_000 / 11)).toBeLessThan(5 * Math.sqrt(20_000 / 11));
  });

  test("lets a key that equals a node's name land on that node as often as on any other", () => {
    const names = Array.from({ length: 400 }, (_, index) => `node-${index}`);
    const home = names.filter((name) => rendezvous([{ name }, { name: "other" }]).owner(name) === name);
    expect(Math.abs(home.length - 200)).toBeLessThan(50);
  });

  test("lets the first of names that UTF-8 cannot tell apart win, in whatever order they come", () => {
    const halves = [{ name: "\ud801" }, { name: "\ud800" }];
    expect(rendezvous(halves).ranked("key", 2)).toEqual(["\ud800", "\ud801"]);
    expect(rendezvous(halves.toReversed()).owner("key")).toBe("\ud800");
  });

  test.each<[string, RendezvousNode[], string]>([
    ["a node listed twice", [{ name: "a" }, { name: "a" }], "EK_SCORING_DUPLICATE_NAME"],
    ["a negative weight", [{ name: "a", weight: -1 }], "EK_SCORING_BAD_NUMBER"],
    ["a weight of NaN", [{ name: "a", weight: NaN }], "EK_SCORING_BAD_NUMBER"],
    ["an infinite weight", [{ name: "a", weight: Infinity }], "EK_SCORING_BAD_NUMBER"],
    ["a weight too small to compare", [{ name: "a", weight: 1e-300 }], "EK_SCORING_BAD_NUMBER"],
  ])("refuses %s and names it", (_name, nodes, code) => {
    expect(() => rendezvous(nodes)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining('node "a"') as unknown }),
    );
  });

  test("refuses a seed or a count that is no whole number", () => {
    expect(() => rendezvous([], -1)).toThrow(/the seed/);
    expect(() => rendezvous([]).ranked("key", 0.5)).toThrow(/the count/);
  });

  const node = fc.record({
    name: fc.string({ unit: "binary", maxLength: 8 }),
    weight: fc.oneof(fc.constant(1), fc.double({ min: 0.01, max: 100, noNaN: true })),
  });
  const nodes = fc.uniqueArray(node, { selector: ({ name }) => name, minLength: 1, maxLength: 8 });
  const someKeys = fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 20 });

  test("moves only the keys of a node that goes, to the one ranked next", () => {
    fc.assert(
      fc.property(nodes, fc.nat(), someKeys, fc.nat(), (all, index, some, seed) => {
        const gone = all[index % all.length]?.name;
        const before = rendezvous(all, seed);
        const after = rendezvous(
          all.filter(({ name }) => name !== gone),
          seed,
        );
        for (const key of some) {
          const [first, second] = before.ranked(key, 2);
          expect(before.owner(key)).toBe(first);
          expect(after.owner(key)).toBe(first === gone ? second : first);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("moves keys only to a node whose weight rises", () => {
    fc.assert(
      fc.property(
        nodes,
        fc.nat(),
        fc.double({ min: 1, max: 10, noNaN: true }),
        someKeys,
        (all, index, factor, some) => {
          const raised = all[index % all.length]?.name;
          const before = rendezvous(all);
          const after = rendezvous(
            all.map(({ name, weight }) => ({ name, weight: name === raised ? weight * factor : weight })),
          );
          for (const key of some) expect([raised, before.owner(key)]).toContain(after.owner(key));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("does not care for the order of the nodes", () => {
    fc.assert(
      fc.property(nodes, someKeys, fc.nat(), (all, some, count) => {
        const [a, b] = [rendezvous(all), rendezvous(all.toReversed())];
        for (const key of some) expect(a.ranked(key, count)).toEqual(b.ranked(key, count));
      }),
      { numRuns: 1_000 },
    );
  });
});
