import { describe, expect, test } from "@jest/globals";
import { apportion, type Placement, type Share } from "./apportion.ts";
import { ScoringError } from "./errors.ts";

/** Shares named a, b, c … with these weights. */
const weighing = (...weights: number[]): Share[] =>
  weights.map((weight, index) => ({ name: String.fromCharCode(97 + index), weight }));

const parts = (total: number, shares: readonly Share[], previous?: Placement) => {
  const { parts, unplaced } = apportion(total, shares, previous);
  expect(unplaced).toBe(0);
  return parts;
};

describe("without a previous placement", () => {
  test.each<[string, number, Share[], Placement]>([
    ["one share gets everything", 10, weighing(5), { a: 10 }],
    ["nothing is split into nothing", 0, weighing(1, 2), { a: 0, b: 0 }],
    ["equal shares get parts that differ by one at most", 6, weighing(7, 7, 7, 7), { a: 2, b: 2, c: 1, d: 1 }],
    ["1 to 3 splits 3 replicas as 1 and 2", 3, weighing(100, 300), { a: 1, b: 2 }],
    ["a share without weight gets nothing", 10, weighing(100, 0), { a: 10, b: 0 }],
    [
      "the largest remainder is rounded up",
      43,
      weighing(21878, 9713, 4167, 3252, 1065),
      { a: 24, b: 10, c: 4, d: 4, e: 1 },
    ],
    ["tenths split as whole numbers do", 10, weighing(0.1, 0.2, 0.3, 0.4), { a: 1, b: 2, c: 3, d: 4 }],
    ["a sum of tenths does not drift", 3, weighing(0.1, 0.1, 0.1), { a: 1, b: 1, c: 1 }],
    ["the greater weight wins a tie", 2, weighing(1, 3), { a: 0, b: 2 }],
    ["the first name wins a tie of equal weights", 1, weighing(1, 1).reverse(), { a: 1, b: 0 }],
    ["a vanishing weight gets nothing beside a common one", 100, weighing(5e-324, 1), { a: 0, b: 100 }],
    ["the greatest doubles are split evenly", 9, weighing(Number.MAX_VALUE, Number.MAX_VALUE), { a: 5, b: 4 }],
    [
      "the greatest total is split to the last replica",
      Number.MAX_SAFE_INTEGER,
      weighing(1, 1, 1),
      { a: 3002399751580331, b: 3002399751580330, c: 3002399751580330 },
    ],
  ])("%s", (_name, total, shares, expected) => {
    expect(parts(total, shares)).toEqual(expected);
  });

  test("decimals that doubles cannot hold still tie exactly", () => {
    // 0.7 · 3 = 2.0999999999999996 in doubles: the quotas are 2.1, 0.3 and 0.6 of 3.
    expect(parts(3, weighing(0.7, 0.1, 0.2))).toEqual({ a: 2, b: 0, c: 1 });
    expect(parts(1, weighing(0.15, 0.15))).toEqual({ a: 1, b: 0 });
  });
});

describe("caps and minimums", () => {
  test("divide what a cap cuts off in the others' proportions", () => {
    expect(parts(12, [{ name: "a", weight: 6, cap: 3 }, ...weighing(0, 2, 1).slice(1)])).toEqual({ a: 3, b: 6, c: 3 });
  });

  test("take what a minimum adds from the others in their proportions", () => {
    expect(parts(12, [{ name: "a", weight: 0.1, minimum: 3 }, ...weighing(0, 2, 1).slice(1)])).toEqual({
      a: 3,
      b: 6,
      c: 3,
    });
  });

  test("bind one after another until none is broken", () => {
    const shares = [
      { name: "a", weight: 100, cap: 1 },
      { name: "b", weight: 10, cap: 2 },
      { name: "c", weight: 1, cap: 3 },
      { name: "d", weight: 0.1 },
    ];
    expect(parts(10, shares)).toEqual({ a: 1, b: 2, c: 3, d: 4 });
  });

  test("may bind on both sides at once", () => {
    const shares = [
      { name: "a", weight: 8, cap: 5 },
      { name: "b", weight: 1, minimum: 4 },
      { name: "c", weight: 1 },
    ];
    expect(parts(10, shares)).toEqual({ a: 5, b: 4, c: 1 });
  });

  test("leave unplaced what does not fit, and drop nothing", () => {
    const shares = weighing(3, 1).map((share) => ({ ...share, cap: 4 }));
    expect(apportion(10, shares)).toEqual({ parts: { a: 4, b: 4 }, unplaced: 2 });
    expect(apportion(7, [])).toEqual({ parts: {}, unplaced: 7 });
    expect(apportion(7, weighing(0, 0))).toEqual({ parts: { a: 0, b: 0 }, unplaced: 7 });
  });

  test("give a share without weight its minimum and no more", () => {
    expect(
      parts(10, [
        { name: "a", weight: 0, minimum: 2 },
        { name: "b", weight: 1 },
      ]),
    ).toEqual({ a: 2, b: 8 });
    const full = [
      { name: "a", weight: 0, minimum: 2 },
      { name: "b", weight: 1, cap: 3 },
    ];
    expect(apportion(10, full)).toEqual({ parts: { a: 2, b: 3 }, unplaced: 5 });
  });
});

describe("with a previous placement", () => {
  test("a tie goes to the holder", () => {
    expect(parts(1, weighing(1, 1), { b: 1 })).toEqual({ a: 0, b: 1 });
    expect(parts(3, weighing(1, 1), { a: 1, b: 1 })).toEqual({ a: 2, b: 1 });
    expect(parts(5, weighing(1, 1), { a: 1, b: 2 })).toEqual({ a: 2, b: 3 });
  });

  test("a raised total takes from no holder where largest remainder alone would", () => {
    const shares = weighing(21878, 9713, 4167, 3252, 1065);
    const previous = parts(43, shares);
    expect(parts(44, shares)).toMatchObject({ d: 3 });
    expect(previous).toMatchObject({ d: 4 });
    expect(parts(44, shares, previous)).toEqual({ ...previous, b: 11 });
  });

  test("a raised total keeps holders that no longer have any weight", () => {
    expect(parts(11, weighing(1, 0), { a: 5, b: 5 })).toEqual({ a: 6, b: 5 });
  });

  test("a raised total goes to those who lack most of their quota", () => {
    expect(parts(12, weighing(1, 1, 1), { a: 9 })).toEqual({ a: 9, b: 2, c: 1 });
  });

  test("a raised total falls short of a quota by no more than the holders force it to", () => {
    // At 13 the quotas are 0.5, 0.5, 4, 4 and 4, but the first two hold 1 each: 14 are owed and 13 are there.
    const shares = weighing(1, 1, 8, 8, 8);
    const previous = parts(11, shares);
    expect(previous).toEqual({ a: 1, b: 1, c: 3, d: 3, e: 3 });
    expect(parts(13, shares, previous)).toEqual({ a: 1, b: 1, c: 4, d: 4, e: 3 });
  });

  test("a lost cluster's replicas go to the others, and the others keep theirs", () => {
    expect(parts(9, weighing(1, 1), { a: 2, b: 4, lost: 3 })).toEqual({ a: 4, b: 5 });
  });

  test("a cap below what is held gives up the difference, and no one else gives up anything", () => {
    const shares = [
      { name: "a", weight: 5, cap: 3 },
      { name: "b", weight: 1 },
      { name: "c", weight: 4 },
    ];
    expect(parts(10, shares, { a: 5, b: 3, c: 2 })).toEqual({ a: 3, b: 3, c: 4 });
  });

  test("a minimum above what is held takes no more than it needs when there is something to add", () => {
    const shares = [
      { name: "a", weight: 1 },
      { name: "b", weight: 1, minimum: 3 },
    ];
    expect(parts(10, shares, { a: 9, b: 0 })).toEqual({ a: 7, b: 3 });
    expect(parts(10, shares, { a: 7, b: 0 })).toEqual({ a: 7, b: 3 });
  });

  test("the same total and shares move nothing, although largest remainder would place otherwise", () => {
    const shares = weighing(100, 101, 102);
    expect(parts(10, shares)).toEqual({ a: 3, b: 3, c: 4 });
    expect(parts(10, shares, { a: 4, b: 3, c: 3 })).toEqual({ a: 4, b: 3, c: 3 });
  });

  test("the same total moves only what is more than one away from its quota", () => {
    expect(parts(10, weighing(7, 3), { a: 5, b: 5 })).toEqual({ a: 7, b: 3 });
    expect(parts(10, weighing(1, 1, 1), { a: 5, b: 5 })).toEqual({ a: 4, b: 3, c: 3 });
  });

  test("a lowered total takes from those furthest above their quota", () => {
    expect(parts(4, weighing(1, 1, 2), { a: 2, b: 1, c: 3 })).toEqual({ a: 1, b: 1, c: 2 });
    expect(parts(2, weighing(1, 1, 1), { a: 1, b: 1, c: 1 })).toEqual({ a: 1, b: 1, c: 0 });
    expect(parts(0, weighing(1, 1), { a: 3, b: 4 })).toEqual({ a: 0, b: 0 });
  });

  test("a share that lost its weight gives up only what fits elsewhere", () => {
    expect(parts(10, weighing(1, 0), { a: 5, b: 5 })).toEqual({ a: 10, b: 0 });
    const full = [
      { name: "a", weight: 1, cap: 7 },
      { name: "b", weight: 0 },
    ];
    expect(parts(12, full, { a: 4, b: 8 })).toEqual({ a: 7, b: 5 });
    expect(apportion(12, full, { a: 4, b: 3 })).toEqual({ parts: { a: 7, b: 3 }, unplaced: 2 });
  });

  test("names of others in it do not matter, whatever they hold", () => {
    expect(parts(2, weighing(1, 1), { gone: NaN, a: 1 })).toEqual({ a: 1, b: 1 });
  });

  test("a thousand ticks of five percent noise move nothing, where ticks that forget the last move hundreds", () => {
    const base = [310, 290, 410, 150, 90, 250];
    const moves = { forgetful: 0, steady: 0 };
    let placed = { forgetful: parts(37, weighing(...base)), steady: parts(37, weighing(...base)) };
    let state = 1;
    const noise = () => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return 0.95 + state / 2 ** 32 / 10;
    };
    for (let tick = 0; tick < 1_000; tick += 1) {
      const shares = weighing(...base.map((weight) => weight * noise()));
      const next = { forgetful: parts(37, shares), steady: parts(37, shares, placed.steady) };
      for (const { name } of shares) {
        moves.forgetful += Math.abs((next.forgetful[name] ?? 0) - (placed.forgetful[name] ?? 0)) / 2;
        moves.steady += Math.abs((next.steady[name] ?? 0) - (placed.steady[name] ?? 0)) / 2;
      }
      placed = next;
    }
    expect(moves.forgetful).toBeGreaterThan(200);
    expect(moves.steady).toBe(0);
  });
});

describe("hostile input", () => {
  const bad = (share: Partial<Share>) => [
    { name: "x", weight: 1 },
    { name: "a", weight: 1, ...share },
  ];

  test.each<[string, number, Share[], Placement, string, string]>([
    ["a total of NaN", NaN, weighing(1), {}, "EK_SCORING_BAD_NUMBER", "the total"],
    ["half a total", 1.5, weighing(1), {}, "EK_SCORING_BAD_NUMBER", "the total"],
    ["a negative total", -1, weighing(1), {}, "EK_SCORING_BAD_NUMBER", "the total"],
    ["an infinite total", Infinity, weighing(1), {}, "EK_SCORING_BAD_NUMBER", "the total"],
    ["a total that a double cannot count", 2 ** 53, weighing(1), {}, "EK_SCORING_BAD_NUMBER", "the total"],
    ["a weight of NaN", 1, bad({ weight: NaN }), {}, "EK_SCORING_BAD_NUMBER", 'the weight of share "a"'],
    ["a negative weight", 1, bad({ weight: -1 }), {}, "EK_SCORING_BAD_NUMBER", 'the weight of share "a"'],
    ["an infinite weight", 1, bad({ weight: Infinity }), {}, "EK_SCORING_BAD_NUMBER", 'the weight of share "a"'],
    ["a negative minimum", 1, bad({ minimum: -1 }), {}, "EK_SCORING_BAD_NUMBER", 'the minimum of share "a"'],
    ["a minimum of NaN", 1, bad({ minimum: NaN }), {}, "EK_SCORING_BAD_NUMBER", 'the minimum of share "a"'],
    ["half a cap", 1, bad({ cap: 0.5 }), {}, "EK_SCORING_BAD_NUMBER", 'the cap of share "a"'],
    ["an infinite cap", 1, bad({ cap: Infinity }), {}, "EK_SCORING_BAD_NUMBER", 'the cap of share "a"'],
    ["a minimum above its cap", 9, bad({ minimum: 3, cap: 2 }), {}, "EK_SCORING_WRONG_ORDER", 'minimum 3 of share "a"'],
    [
      "minimums above the total",
      2,
      bad({ minimum: 3 }),
      {},
      "EK_SCORING_MINIMUMS_EXCEED_TOTAL",
      'share "a" asks for 3',
    ],
    ["a name listed twice", 1, bad({ name: "x" }), {}, "EK_SCORING_DUPLICATE_NAME", 'share "x"'],
    ["a negative holding", 1, weighing(1), { a: -1 }, "EK_SCORING_BAD_NUMBER", 'held by share "a"'],
    ["a holding of NaN", 1, weighing(1), { a: NaN }, "EK_SCORING_BAD_NUMBER", 'held by share "a"'],
  ])("is refused: %s", (_name, total, shares, previous, code, message) => {
    expect(() => apportion(total, shares, previous)).toThrow(ScoringError);
    expect(() => apportion(total, shares, previous)).toThrow(
      expect.objectContaining({ code, recovery: "terminal", message: expect.stringContaining(message) as unknown }),
    );
  });

  test("is refused as text where a number belongs", () => {
    expect(() => apportion(1, bad({ weight: "5" as unknown as number }))).toThrow(
      'the weight of share "a" must be a finite number of at least 0, not "5"',
    );
  });

  test("in the form of names that objects have by birth is taken as any name", () => {
    const shares = ["__proto__", "constructor", "hasOwnProperty", ""].map((name) => ({ name, weight: 1 }));
    const { parts } = apportion(8, shares);
    expect(Object.keys(parts).sort()).toEqual(["", "__proto__", "constructor", "hasOwnProperty"]);
    expect(Object.values(parts)).toEqual([2, 2, 2, 2]);
    expect(apportion(8, shares, parts).parts).toEqual(parts);
  });

  test("with minimums whose sum no double holds is refused, not wrapped", () => {
    const shares = weighing(1, 1, 1).map((share) => ({ ...share, minimum: Number.MAX_SAFE_INTEGER }));
    expect(() => apportion(Number.MAX_SAFE_INTEGER, shares)).toThrow(
      expect.objectContaining({ code: "EK_SCORING_MINIMUMS_EXCEED_TOTAL" }),
    );
  });

  test("does not change what it is given", () => {
    const shares = Object.freeze(weighing(1, 2).map((share) => Object.freeze(share)));
    expect(parts(3, shares, Object.freeze({ a: 1 }))).toEqual({ a: 1, b: 2 });
  });
});
