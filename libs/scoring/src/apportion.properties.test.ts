import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { apportion, type Placement, type Share } from "./apportion.ts";
import { withQuotas } from "./quotas.ts";
import {
  add,
  ceil,
  compare,
  divide,
  floor,
  multiply,
  proportions,
  type Rational,
  rational,
  subtract,
} from "./rational.ts";

const zero = rational(0n);

const weight = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 50 }) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 1_000 }).map((hundredths) => hundredths / 100) },
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.double({ min: 1e-9, max: 1e9, noNaN: true }) },
);

const named = <T extends object>(values: readonly T[]) =>
  values.map((value, index) => ({ name: `share-${index}`, ...value }));

/** Shares without caps and minimums. */
const unbound = fc.array(fc.record({ weight }), { minLength: 1, maxLength: 8 }).map(named);

/** Shares of which some have caps and minimums. */
const bound = fc
  .array(
    fc.record({
      weight,
      minimum: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(4)),
      room: fc.option(fc.nat(12)),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((shares) =>
    named(
      shares.map(({ room, minimum, weight }): Omit<Share, "name"> => ({
        weight,
        minimum,
        ...(room === null ? {} : { cap: minimum + room }),
      })),
    ),
  );

const minimums = (shares: readonly Share[]) => shares.reduce((sum, { minimum = 0 }) => sum + minimum, 0);
const sumOf = (placement: Placement) => Object.values(placement).reduce((sum, part) => sum + part, 0);
const held = (placement: Placement, name: string) => placement[name] ?? 0;

/** Whether a part is its quota rounded down or up. */
const isNear = (part: number, quota: Rational) => BigInt(part) >= floor(quota) && BigInt(part) <= ceil(quota);

/** Shares, a total that their minimums allow, and some placement before it. */
const problem = bound.chain((shares) =>
  fc.record({
    shares: fc.constant(shares),
    total: fc.nat(60).map((more) => minimums(shares) + more),
    previous: fc
      .array(fc.oneof(fc.constant(0), fc.nat(20)), { minLength: shares.length, maxLength: shares.length })
      .map((counts): Placement => Object.fromEntries(shares.map(({ name }, index) => [name, counts[index] ?? 0]))),
  }),
);

/**
 * The quotas by another way: the level at which they add up is found between the sorted points where a bound sets in.
 */
function expectedQuotas(total: number, shares: readonly Share[]): Map<string, Rational> {
  const claims = shares.map(({ name, weight, minimum = 0, cap = total }) => ({
    name,
    weight: rational(weight),
    low: rational(BigInt(minimum)),
    high: weight === 0 ? rational(BigInt(minimum)) : rational(BigInt(cap)),
  }));
  const at = (level: Rational) =>
    new Map(
      claims.map(({ name, weight, low, high }) => {
        const exact = multiply(level, weight);
        return [name, compare(exact, low) < 0 ? low : compare(exact, high) > 0 ? high : exact];
      }),
    );
  const sum = (quotas: Map<string, Rational>) => [...quotas.values()].reduce(add, zero);
  const points = claims
    .filter(({ weight }) => weight.numerator > 0n)
    .flatMap(({ weight, low, high }) => [divide(low, weight), divide(high, weight)])
    .sort(compare);
  const wanted = rational(BigInt(total));
  let [from, to] = [zero, zero];
  for (const point of points) {
    [from, to] = [to, point];
    if (compare(sum(at(point)), wanted) >= 0) break;
  }
  const [lower, upper] = [sum(at(from)), sum(at(to))];
  if (compare(upper, wanted) <= 0 || compare(lower, upper) === 0) return at(to);
  const part = divide(subtract(wanted, lower), subtract(upper, lower));
  return at(add(from, multiply(part, subtract(to, from))));
}

/** All ways to place `total`, each part between its bounds. */
function* placements(total: number, bounds: readonly (readonly [low: number, high: number])[]): Generator<number[]> {
  const [first, ...others] = bounds;
  if (first === undefined) {
    if (total === 0) yield [];
    return;
  }
  for (let part = first[0]; part <= Math.min(first[1], total); part += 1) {
    for (const rest of placements(total - part, others)) yield [part, ...rest];
  }
}

describe("whatever the input", () => {
  test("the parts and what is unplaced add up, within the caps and minimums", () => {
    fc.assert(
      fc.property(problem, ({ shares, total, previous }) => {
        for (const before of [undefined, previous]) {
          const { parts, unplaced } = apportion(total, shares, before);
          expect(sumOf(parts) + unplaced).toBe(total);
          expect(unplaced).toBeGreaterThanOrEqual(0);
          const broken = shares.filter(
            ({ name, minimum = 0, cap = Infinity }) => held(parts, name) < minimum || held(parts, name) > cap,
          );
          expect(broken).toEqual([]);
          const hasRoom = shares.some(({ name, weight, cap = Infinity }) => weight > 0 && held(parts, name) < cap);
          if (hasRoom) expect(unplaced).toBe(0);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test("the order of the shares does not matter", () => {
    const shuffled = problem.chain((given) =>
      fc.record({
        given: fc.constant(given),
        order: fc.shuffledSubarray(given.shares, { minLength: given.shares.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ given: { shares, total, previous }, order }) => {
        expect(apportion(total, order)).toEqual(apportion(total, shares));
        expect(apportion(total, order, previous)).toEqual(apportion(total, shares, previous));
      }),
      { numRuns: 1_000 },
    );
  });

  test("the scale of the weights does not matter", () => {
    fc.assert(
      fc.property(problem, fc.integer({ min: -20, max: 20 }), ({ shares, total, previous }, power) => {
        const scaled = shares.map((share) => ({ ...share, weight: Number(`${share.weight}e${power}`) }));
        fc.pre(shares.every(({ weight }) => !String(weight).includes("e")));
        expect(apportion(total, scaled, previous)).toEqual(apportion(total, shares, previous));
      }),
      { numRuns: 1_000 },
    );
  });

  test("more weight never makes a share's own part smaller", () => {
    fc.assert(
      fc.property(
        problem,
        fc.nat(),
        fc.integer({ min: 1, max: 500 }),
        ({ shares, total, previous }, index, percent) => {
          const raised = shares[index % shares.length]?.name ?? "";
          const after = shares.map((share) =>
            share.name === raised ? { ...share, weight: share.weight * (1 + percent / 100) + percent / 1000 } : share,
          );
          for (const before of [undefined, previous]) {
            const [less, more] = [apportion(total, shares, before), apportion(total, after, before)];
            expect(more.parts[raised]).toBeGreaterThanOrEqual(held(less.parts, raised));
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe("the quotas", () => {
  test("are exact", () => {
    fc.assert(
      fc.property(problem, ({ shares, total }) => {
        const weights = proportions(shares.map((share) => share.weight));
        const quotas = withQuotas(
          total,
          shares.map(({ name, minimum = 0, cap = total }, index) => ({
            name,
            weight: weights[index] ?? 0n,
            minimum,
            cap: Math.min(cap, total),
          })),
        );
        const expected = expectedQuotas(total, shares);
        for (const { name, whole, remainder } of quotas) {
          const quota = expected.get(name) ?? zero;
          expect(BigInt(whole)).toBe(floor(quota));
          expect(remainder > 0n).toBe(quota.denominator > 1n);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("are met within one by each part, where no cap or minimum binds", () => {
    fc.assert(
      fc.property(unbound, fc.nat(200), (shares, total) => {
        const weights = shares.map((share) => rational(share.weight)).reduce(add, zero);
        fc.pre(weights.numerator > 0n);
        const { parts } = apportion(total, shares);
        const apart = shares.filter(({ name, weight }) => {
          const quota = divide(multiply(rational(BigInt(total)), rational(weight)), weights);
          const difference = subtract(rational(BigInt(held(parts, name))), quota);
          return compare(difference, rational(1n)) >= 0 || compare(difference, rational(-1n)) <= 0;
        });
        expect(apart).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  test("are met within one by each part, with what the bounds make of them", () => {
    fc.assert(
      fc.property(problem, ({ shares, total, previous }) => {
        const quotas = expectedQuotas(total, shares);
        const lowered = sumOf(apportion(total, shares, previous).parts) === total && sumOf(previous) >= total;
        const fits = shares.every(({ name, cap = Infinity }) => held(previous, name) <= cap);
        for (const before of lowered && fits ? [undefined, previous] : [undefined]) {
          const { parts, unplaced } = apportion(total, shares, before);
          if (unplaced > 0 || shares.some((share) => share.weight === 0)) continue;
          const apart = shares.filter(({ name }) => !isNear(held(parts, name), quotas.get(name) ?? zero));
          expect(apart).toEqual([]);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("given what was placed before", () => {
  test("raising the total takes from no holder, also when weights, caps and shares change", () => {
    fc.assert(
      fc.property(problem, fc.nat(30), ({ shares, previous }, more) => {
        const kept = shares.map(({ name, minimum = 0, cap = Infinity }) => ({
          name,
          least: Math.max(minimum, Math.min(held(previous, name), cap)),
        }));
        const total = kept.reduce((sum, { least }) => sum + least, 0) + 1 + more;
        const { parts } = apportion(total, shares, previous);
        expect(kept.filter(({ name, least }) => held(parts, name) < least)).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  test("raising the total step by step takes from no holder", () => {
    fc.assert(
      fc.property(bound, fc.array(fc.nat(9), { maxLength: 12 }), (shares, steps) => {
        let total = minimums(shares);
        let before = apportion(total, shares);
        for (const step of steps) {
          total += step;
          const after = apportion(total, shares, before.parts);
          const robbed = shares.filter(({ name }) => held(after.parts, name) < held(before.parts, name));
          expect(robbed).toEqual([]);
          before = after;
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("equal shares and an equal total move nothing", () => {
    fc.assert(
      fc.property(problem, ({ shares, total }) => {
        const first = apportion(total, shares);
        expect(apportion(total, shares, first.parts)).toEqual(first);
      }),
      { numRuns: 1_000 },
    );
  });

  test("what a changed total or changed weights led to stays, unless holders kept it from its quota", () => {
    fc.assert(
      fc.property(problem, ({ shares, total, previous }) => {
        fc.pre(total <= shares.reduce((sum, { name, cap = Infinity }) => sum + Math.min(held(previous, name), cap), 0));
        const repaired = apportion(total, shares, previous);
        expect(apportion(total, shares, repaired.parts)).toEqual(repaired);
      }),
      { numRuns: 1_000 },
    );
  });

  test("noise that leaves each holding within one of its quota moves nothing", () => {
    const noisy = unbound.chain((shares) =>
      fc.record({
        shares: fc.constant(shares),
        noise: fc.array(fc.integer({ min: 900, max: 1_100 }), { minLength: shares.length, maxLength: shares.length }),
      }),
    );
    fc.assert(
      fc.property(noisy, fc.nat(30), ({ shares, noise }, total) => {
        const { parts } = apportion(total, shares);
        const after = shares.map((share, index) => ({
          ...share,
          weight: (share.weight * (noise[index] ?? 0)) / 1_000,
        }));
        const quotas = expectedQuotas(total, after);
        const near = shares.every(({ name }) => isNear(held(parts, name), quotas.get(name) ?? zero));
        if (near) expect(apportion(total, after, parts).parts).toEqual(parts);
      }),
      { numRuns: 2_000 },
    );
  });

  /** Few shares and a small total, so that all placements can be tried. */
  const small = fc
    .array(fc.record({ weight: fc.integer({ min: 1, max: 9 }), before: fc.nat(6) }), { minLength: 2, maxLength: 4 })
    .map(named)
    .map((shares) => ({
      shares,
      previous: Object.fromEntries(shares.map(({ name, before }) => [name, before])),
    }));

  test("a raised total leaves the least shortfall that is possible", () => {
    fc.assert(
      fc.property(small, fc.integer({ min: 1, max: 5 }), ({ shares, previous }, more) => {
        const total = sumOf(previous) + more;
        const quotas = shares.map(({ name }) => expectedQuotas(total, shares).get(name) ?? zero);
        const shortfall = (counts: readonly number[]) =>
          counts
            .map((count, index) => subtract(quotas[index] ?? zero, rational(BigInt(count))))
            .reduce((worst, next) => (compare(next, worst) > 0 ? next : worst));
        const { parts } = apportion(total, shares, previous);
        const ours = shortfall(shares.map(({ name }) => held(parts, name)));
        for (const other of placements(
          total,
          shares.map(({ name }) => [held(previous, name), total]),
        )) {
          expect(compare(ours, shortfall(other))).toBeLessThanOrEqual(0);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("a total that is not raised moves as few as its quotas allow", () => {
    fc.assert(
      fc.property(small, fc.nat(5), ({ shares, previous }, less) => {
        const total = Math.max(0, sumOf(previous) - less);
        const quotas = expectedQuotas(total, shares);
        const moves = (counts: readonly number[]) =>
          shares.reduce((sum, { name }, index) => sum + Math.abs((counts[index] ?? 0) - held(previous, name)), 0);
        const { parts } = apportion(total, shares, previous);
        const ours = moves(shares.map(({ name }) => held(parts, name)));
        for (const other of placements(
          total,
          shares.map(({ name }) => [Number(floor(quotas.get(name) ?? zero)), Number(ceil(quotas.get(name) ?? zero))]),
        )) {
          expect(ours).toBeLessThanOrEqual(moves(other));
        }
      }),
      { numRuns: 500 },
    );
  });
});
