import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Holdings, sigmaBound } from "./sigma-bound.ts";
import { Spread } from "./spread.ts";

/** Parts on nodes of some capacity; a part of size 1 raises a node of capacity 2 by one half. */
interface World {
  readonly capacities: readonly number[];
  readonly floors: readonly number[];
  readonly parts: readonly { readonly on: number; readonly size: number; readonly isMovable: boolean }[];
}

function holdingsOf({ capacities, floors, parts }: World): Holdings {
  const levels = Float64Array.from(capacities, (capacity, node) => (floors[node] ?? 0) / capacity);
  for (const { on, size } of parts) levels[on] = (levels[on] ?? 0) + size / (capacities[on] ?? NaN);
  const sizes: number[] = [];
  const offsets = [0];
  for (const [node, capacity] of capacities.entries()) {
    const own = parts.filter(({ on, isMovable }) => on === node && isMovable).map(({ size }) => size / capacity);
    sizes.push(...own.sort((a, b) => b - a));
    offsets.push(sizes.length);
  }
  const [smallest, largest] = [Math.min(...capacities), Math.max(...capacities)];
  const stretch = {
    least: Float64Array.from(capacities, (capacity) => capacity / largest),
    most: Float64Array.from(capacities, (capacity) => capacity / smallest),
  };
  return {
    levels,
    offsets: Int32Array.from(offsets),
    sizes: Float64Array.from(sizes),
    ...(smallest === largest ? {} : { stretch }),
  };
}

/** The least standard deviation for each number of moves, over all assignments. */
function optimum({ capacities, floors, parts }: World): number[] {
  const movable = parts.filter(({ isMovable }) => isMovable);
  const levels = capacities.map((capacity, node) => (floors[node] ?? 0) / capacity);
  for (const { on, size, isMovable } of parts) {
    if (!isMovable) levels[on] = (levels[on] ?? 0) + size / (capacities[on] ?? NaN);
  }
  const best = new Array<number>(movable.length + 1).fill(Infinity);
  const place = (index: number, moves: number): void => {
    const part = movable[index];
    if (part === undefined) {
      const mean = levels.reduce((sum, level) => sum + level, 0) / levels.length;
      const sum = levels.reduce((squares, level) => squares + (level - mean) ** 2, 0);
      best[moves] = Math.min(best[moves] ?? Infinity, Math.sqrt(sum / levels.length));
      return;
    }
    for (const [node, capacity] of capacities.entries()) {
      const before = levels[node] ?? NaN;
      levels[node] = before + part.size / capacity;
      place(index + 1, moves + (node === part.on ? 0 : 1));
      levels[node] = before;
    }
  };
  place(0, 0);
  return best.map((_, moves) => Math.min(...best.slice(0, moves + 1)));
}

function worlds(capacities: fc.Arbitrary<readonly number[]>, partCount: number): fc.Arbitrary<World> {
  return capacities.chain((given) =>
    fc.record({
      capacities: fc.constant(given),
      floors: fc.tuple(...given.map(() => fc.double({ min: 0, max: 0.5, noNaN: true }))),
      parts: fc.array(
        fc.record({
          on: fc.nat(given.length - 1),
          size: fc.oneof(fc.double({ min: 0.01, max: 0.6, noNaN: true }), fc.constantFrom(0.1, 0.2)),
          isMovable: fc.integer({ min: 0, max: 9 }).map((roll) => roll < 8),
        }),
        { maxLength: partCount },
      ),
    }),
  );
}

function isNeverAbove(world: World): void {
  const bounds = sigmaBound(holdingsOf(world), world.parts.length);
  const best = optimum(world);
  for (const [moves, sigma] of best.entries()) expect(bounds[moves]).toBeLessThanOrEqual(sigma + 1e-12);
}

describe("the bound on σ", () => {
  test("is never above the optimum over all assignments, on equal nodes with floors", () => {
    const equal = fc.integer({ min: 2, max: 4 }).map((count) => new Array<number>(count).fill(1));
    fc.assert(fc.property(worlds(equal, 7), isNeverAbove), { seed: 20, numRuns: 300 });
  });

  test("is never above the optimum on nodes of different capacity", () => {
    const mixed = fc.array(fc.constantFrom(1, 2, 4, 1.5), { minLength: 2, maxLength: 4 });
    fc.assert(fc.property(worlds(mixed, 6), isNeverAbove), { seed: 21, numRuns: 400 });
  });

  test("is the present σ for no move, and never rises with more", () => {
    const bounds = sigmaBound(holdingsOf(hundred()), 600);
    expect(bounds[0]).toBeCloseTo(new Spread(holdingsOf(hundred()).levels).sigma, 12);
    for (const [moves, bound] of bounds.entries()) {
      expect(bound).toBeLessThanOrEqual(bounds[Math.max(0, moves - 1)] ?? NaN);
    }
  });

  test("is close to what moving the best part to the emptiest node reaches", () => {
    const world = hundred();
    const bounds = sigmaBound(holdingsOf(world), 150);
    for (const budget of [10, 50, 100, 150]) {
      expect(greedy(world, budget)).toBeLessThanOrEqual((bounds[budget] ?? NaN) * 1.02 + 0.002);
    }
  });

  test("keeps what cannot be moved where it is", () => {
    const world = {
      capacities: [1, 1],
      floors: [0.8, 0],
      parts: [{ on: 0, size: 0.1, isMovable: true }],
    };
    expect(sigmaBound(holdingsOf(world), 5)[5]).toBeCloseTo(0.35, 3);
  });

  test("is 0 for equal levels and for no nodes", () => {
    expect([...sigmaBound(holdingsOf({ capacities: [1, 1], floors: [0.3, 0.3], parts: [] }), 2)]).toEqual([0, 0, 0]);
    expect([...sigmaBound(holdingsOf({ capacities: [], floors: [], parts: [] }), 1)]).toEqual([0, 0]);
  });

  test.each<[string, Partial<Holdings>, number]>([
    ["a level that is not a number", { levels: Float64Array.of(NaN, 0) }, 1],
    ["sizes that are not sorted", { sizes: Float64Array.of(0.1, 0.2) }, 1],
    ["a negative size", { sizes: Float64Array.of(0.1, -0.2) }, 1],
    ["a budget that is not a count", {}, 1.5],
  ])("refuses %s", (_sentence, change, budget) => {
    const holdings = {
      levels: Float64Array.of(0.5, 0),
      offsets: Int32Array.of(0, 2, 2),
      sizes: Float64Array.of(0.2, 0.1),
    };
    expect(() => sigmaBound({ ...holdings, ...change }, budget)).toThrow(
      expect.objectContaining({ code: "EK_SCORING_BAD_NUMBER" }),
    );
  });
});

/** 50 full and 50 empty nodes with parts of uneven size. */
function hundred(): World {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state / 2 ** 32;
  };
  return {
    capacities: new Array<number>(100).fill(1),
    floors: new Array<number>(100).fill(0.05),
    parts: Array.from({ length: 600 }, (_, index) => ({ on: index % 50, size: 0.12 * random(), isMovable: true })),
  };
}

function greedy({ capacities, floors, parts }: World, budget: number): number {
  const spread = new Spread(holdingsOf({ capacities, floors, parts }).levels);
  const left = new Set(parts);
  for (let move = 0; move < budget; move += 1) {
    const coldest = capacities.reduce((best, _, node) => (spread.level(node) < spread.level(best) ? node : best), 0);
    const best = [...left].reduce((chosen, part) =>
      spread.change(part.on, part.size, coldest, part.size) <
      spread.change(chosen.on, chosen.size, coldest, chosen.size)
        ? part
        : chosen,
    );
    spread.move(best.on, best.size, coldest, best.size);
    left.delete(best);
  }
  return spread.sigma;
}
