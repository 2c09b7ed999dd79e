import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { hashText } from "./hash.ts";
import { rendezvous } from "./rendezvous.ts";
import { type StickyBalance, stickyBalance } from "./sticky-balance.ts";
import type { Holder } from "./sticky-columns.ts";

const holdersOf = (count: number): Holder[] => Array.from({ length: count }, (_, index) => ({ name: `c-${index}` }));
const idOf = (key: string) => {
  const { high, low } = hashText(key);
  return high * 2 ** 20 + (low >>> 12);
};

/** Targets with keys and loads, and their owners in a fleet that is resized. */
class Fleet {
  readonly keys: readonly string[];
  readonly load: Float64Array;
  readonly id: Float64Array;
  owner: Int32Array;

  constructor(load: readonly number[]) {
    this.load = Float64Array.from(load);
    this.keys = load.map((_, index) => `app http://10.0.${index >> 8}.${index & 255}:8080/metrics`);
    this.id = Float64Array.from(this.keys, idOf);
    this.owner = new Int32Array(load.length).fill(-1);
  }

  get total(): number {
    return this.load.reduce((sum, load) => sum + load, 0);
  }

  preferred(count: number): Int32Array {
    const { owner } = rendezvous(holdersOf(count));
    return Int32Array.from(this.keys, (key) => Number(owner(key)?.slice(2)));
  }

  resize(count: number): StickyBalance {
    const owner = this.owner.map((index) => (index < count ? index : -1));
    const { load, id } = this;
    const balance = stickyBalance(holdersOf(count), { load, id, owner, preferred: this.preferred(count) });
    this.owner = balance.owner;
    return balance;
  }

  /** Part of the items that are not with their preferred holder. */
  exceptions(count: number): number {
    const preferred = this.preferred(count);
    return this.owner.filter((owner, item) => owner !== preferred[item]).length / this.owner.length;
  }
}

function uniform(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    return (hashText(`${state}`).high + 0.5) / 2 ** 32;
  };
}

const SHAPES = {
  equal: (count: number) => new Array<number>(count).fill(1),
  lognormal: (count: number) => {
    const random = uniform(7);
    const normal = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
    return Array.from({ length: count }, () => Math.exp(1.5 * normal()));
  },
  /** 20 of them have half of the load. */
  whales: (count: number) => Array.from({ length: count }, (_, index) => (index < 20 ? (count - 20) / 20 : 1)),
};
type Shape = keyof typeof SHAPES;

/** How far the loads of holders without an item set apart are from the mean, in parts of it. */
function farthest({ loads, mean, owner, apart }: StickyBalance): number {
  const seats = new Set(apart.map((item) => owner[item]));
  return Math.max(0, ...[...loads].map((load, holder) => (seats.has(holder) ? 0 : Math.abs(load / mean - 1))));
}

const EVENTS = [
  [3, 4],
  [10, 11],
  [15, 16],
  [50, 51],
  [10, 9],
] as const;
const CASES = [1000, 10_000].flatMap((count) =>
  (Object.keys(SHAPES) as Shape[]).flatMap((shape) => EVENTS.map(([from, to]) => ({ count, shape, from, to }))),
);

describe("sticky balance", () => {
  test.each(CASES)("$count $shape items, $from → $to: the band, and little more than the bound", (given) => {
    const { count, shape, from, to } = given;
    const fleet = new Fleet(SHAPES[shape](count));
    fleet.resize(from);
    const after = fleet.resize(to);
    // Of 1,000 items, one may be more than 5 %. A whale that lost its holder is a quarter of the mean, and within 10 %
    // nothing is levelled for it.
    const one = Math.min(...fleet.load) / after.mean;
    const isWhale = shape === "whales" && to < from;
    expect(farthest(after)).toBeLessThanOrEqual(isWhale ? 0.1 : Math.max(0.0501, one));
    // A whale of a lost holder is a quarter of the mean: light items must make room for it, which the bound does not
    // know.
    const most = shape === "whales" && from === 10 ? 0.02 : 0.01;
    expect((after.moved - after.bound) / fleet.total).toBeLessThanOrEqual(most);
  });

  test.each(["equal", "lognormal", "whales"] as const)(
    "the walk 3 → 10 with %s items stays near the bound",
    (shape) => {
      const fleet = new Fleet(SHAPES[shape](10_000));
      fleet.resize(3);
      const steps = Array.from({ length: 7 }, (_, step) => fleet.resize(step + 4));
      for (const step of steps) expect(farthest(step)).toBeLessThanOrEqual(0.0501);
      const beyond = steps.reduce((sum, { moved, bound }) => sum + moved - bound, 0);
      expect(beyond / fleet.total).toBeLessThanOrEqual(0.01);
    },
  );

  test("light items fill what whales leave of the band, however many it takes", () => {
    const fleet = new Fleet(SHAPES.whales(100_000));
    for (const count of [3, 4, 5]) fleet.resize(count);
    expect(farthest(fleet.resize(6))).toBeLessThanOrEqual(0.0501);
  });

  test("most items stay with, or go to, their preferred holder", () => {
    const fleet = new Fleet(SHAPES.lognormal(10_000));
    fleet.resize(10);
    expect(fleet.exceptions(10)).toBeLessThan(0.005);
    fleet.resize(11);
    expect(fleet.exceptions(11)).toBeLessThan(0.05);
  });

  test("an item larger than the mean is set apart with a holder of its own, and the others are level", () => {
    const fleet = new Fleet([1000, 700, ...new Array<number>(300).fill(1)]);
    const { apart, owner, loads, mean } = fleet.resize(5);
    expect(apart).toEqual([0, 1]);
    expect(owner[0]).not.toBe(owner[1]);
    expect(mean).toBe(100);
    expect(loads[owner[0] as number]).toBeLessThanOrEqual(1005);
  });

  test("two items larger than the mean do not stay on one holder", () => {
    const items = { load: [10, 10, 1, 1], owner: [0, 0, 1, 2], preferred: [0, 0, 1, 2], id: [1, 2, 3, 4] };
    const { owner } = stickyBalance(holdersOf(3), items);
    expect(new Set(owner.slice(0, 2)).size).toBe(2);
  });

  test("a closed holder gives everything away and gets nothing", () => {
    const fleet = new Fleet(SHAPES.equal(1000));
    fleet.resize(4);
    const holders = holdersOf(4).map((holder, index) => ({ ...holder, closed: index === 2 }));
    const { load, id } = fleet;
    const items = { load, id, owner: fleet.owner, preferred: fleet.preferred(4) };
    const { owner, loads } = stickyBalance(holders, items);
    expect(loads[2]).toBe(0);
    expect(owner).not.toContain(2);
  });

  test("a limit leaves moves for later, and orphans are placed all the same", () => {
    const load = new Array<number>(100).fill(1);
    const owner = load.map((_, index) => (index < 90 ? 0 : -1));
    const items = { load, owner, preferred: load.map(() => -1), id: load.map((_, index) => index) };
    const balance = stickyBalance(holdersOf(2), items, { limit: 5 });
    expect(balance.isCut).toBe(true);
    expect([...balance.loads]).toEqual([85, 15]);
    expect(stickyBalance(holdersOf(2), items, { level: false })).toMatchObject({ isOutside: true, isCut: false });
  });

  test("without an open holder orphans stay orphans", () => {
    const items = { load: [1], owner: [-1], preferred: [-1], id: [1] };
    expect([...stickyBalance([], items).owner]).toEqual([-1]);
    expect([...stickyBalance([{ name: "c", closed: true }], { ...items, owner: [0] }).owner]).toEqual([0]);
  });

  test("items that are not listed count, and stay", () => {
    const items = { load: [5, 5], owner: [0, 0], preferred: [-1, -1], id: [1, 2] };
    const holders = [{ name: "a" }, { name: "b", fixed: 10 }];
    expect(stickyBalance(holders, items)).toMatchObject({ moved: 0, mean: 10 });
  });

  test("a load that is not known is refused", () => {
    const items = { load: [NaN], owner: [-1], preferred: [-1], id: [1] };
    expect(() => stickyBalance(holdersOf(1), items)).toThrow("load of an item");
  });
});

describe("sticky balance, for any items", () => {
  const fleets = fc
    .record({
      count: fc.integer({ min: 1, max: 12 }),
      items: fc.array(fc.record({ load: fc.double({ min: 0, max: 10, noNaN: true }), at: fc.nat(), to: fc.nat() }), {
        maxLength: 120,
      }),
    })
    .map(({ count, items }) => ({
      holders: holdersOf(count),
      rows: items.map(({ load, at, to }, index) => ({
        ...{ load, owner: (at % (count + 1)) - 1, preferred: (to % (count + 1)) - 1, id: index },
      })),
    }));
  type Row = { load: number; owner: number; preferred: number; id: number };
  const columns = (rows: readonly Row[]) => ({
    ...{ load: rows.map(({ load }) => load), owner: rows.map(({ owner }) => owner) },
    ...{ preferred: rows.map(({ preferred }) => preferred), id: rows.map(({ id }) => id) },
  });

  test("the band holds if no item is larger than half of it", () => {
    const light = fc.record({
      count: fc.integer({ min: 2, max: 10 }),
      seed: fc.nat(),
      skew: fc.integer({ min: 1, max: 10 }),
    });
    fc.assert(
      fc.property(light, ({ count, seed, skew }) => {
        const random = uniform(seed);
        const rows = Array.from({ length: 40 * count }, (_, id) => ({
          ...{ load: 1 + random(), owner: Math.floor(random() * Math.min(count, skew)), id },
          preferred: Math.floor(random() * count),
        }));
        expect(farthest(stickyBalance(holdersOf(count), columns(rows), {}))).toBeLessThanOrEqual(0.1 + 1e-6);
        const after = stickyBalance(holdersOf(count), columns(rows));
        if (after.isOutside) expect(farthest(after)).toBeLessThanOrEqual(0.05 + 1e-6);
      }),
      { numRuns: 200 },
    );
  });

  test("nothing moves while every holder is within 10 % of the mean", () => {
    fc.assert(
      fc.property(fleets, ({ holders, rows }) => {
        const first = stickyBalance(holders, columns(rows));
        const settled = rows.map((row, index) => ({ ...row, owner: first.owner[index] as number }));
        const again = stickyBalance(holders, columns(settled));
        if (!again.isOutside) expect(again.moved).toBe(0);
      }),
    );
  });

  test("repeating it ends, and never makes it worse", () => {
    fc.assert(
      fc.property(fleets, ({ holders, rows }) => {
        let present = rows;
        for (let round = 0; round < 20; round += 1) {
          const { owner, moved } = stickyBalance(holders, columns(present));
          if (moved === 0 && owner.every((each, index) => each === present[index]?.owner)) return;
          present = present.map((row, index) => ({ ...row, owner: owner[index] as number }));
        }
        throw new Error("it does not end");
      }),
    );
  });

  test("the order of items does not matter", () => {
    fc.assert(
      fc.property(fleets, fc.nat(), ({ holders, rows }, seed) => {
        const shuffled = [...rows].sort((a, b) => hashText(`${a.id} ${seed}`).high - hashText(`${b.id} ${seed}`).high);
        const [one, two] = [stickyBalance(holders, columns(rows)), stickyBalance(holders, columns(shuffled))];
        const byId = new Map(shuffled.map(({ id }, index) => [id, two.owner[index]]));
        expect(rows.map(({ id }) => byId.get(id))).toEqual([...one.owner]);
      }),
    );
  });

  test("items stay or are placed, and loads add up", () => {
    fc.assert(
      fc.property(fleets, ({ holders, rows }) => {
        const { owner, loads } = stickyBalance(holders, columns(rows));
        const sums = holders.map(() => 0);
        for (const [index, { load }] of rows.entries())
          sums[owner[index] as number] = (sums[owner[index] as number] ?? 0) + load;
        for (const [holder, sum] of sums.entries()) expect(loads[holder]).toBeCloseTo(sum, 5);
      }),
    );
  });
});
