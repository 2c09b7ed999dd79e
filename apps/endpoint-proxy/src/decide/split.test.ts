import { describe, expect, test } from "@jest/globals";
import { NO_POLICY, policyOf, type SplitPolicy } from "./split-policy.ts";
import type { SplitMember, SplitSnapshot } from "./split-snapshot.ts";
import { splitDecider } from "./split.ts";

const NOTHING = { cpu: 0, memory: 0, pods: 0 };
const ROOMY = { cpu: 1_000_000, memory: 2 ** 50, pods: 100_000 };

type Given = Partial<Omit<SplitMember, "score">> & {
  watts?: number;
  score?: number | null;
  free?: Partial<typeof ROOMY>;
};

/** The first is the own cluster. */
function members(given: Readonly<Record<string, Given>>): readonly SplitMember[] {
  return Object.entries(given).map(([name, { watts, score = 100, free, ...rest }], index) => ({
    ...{ name, own: index === 0, standing: "Ready", held: 0, placedSince: NOTHING },
    score: score === null ? null : scoreOf(score, watts, free),
    ...rest,
  }));
}

const scoreOf = (score: number, watts: number | undefined, free: Partial<typeof ROOMY> | undefined) => ({
  ...{ source: "watts" as const, score, marginalWatts: watts ?? null },
  free: { ...ROOMY, ...free },
});

function decide(total: number, given: Readonly<Record<string, Given>>, more: Partial<SplitSnapshot> = {}) {
  const verdict = splitDecider.decide({
    ...{ at: "2026-01-01T00:00:00Z", kind: "Deployment", namespace: "shop", name: "web", dryRun: false },
    ...{ requests: { cpu: 1000, memory: 0 }, policy: NO_POLICY, total, members: members(given) },
    ...more,
  });
  return { ...verdict, parts: verdict.after.map(({ replicas }) => replicas) };
}

const policy = (change: Partial<SplitPolicy>): Partial<SplitSnapshot> => ({ policy: { ...NO_POLICY, ...change } });

describe("defects of the original", () => {
  test("one cluster gets all 10 replicas, not 1", () => {
    expect(decide(10, { a: {} }).parts).toEqual([10]);
  });
  test.each([
    ["a peer that is not scored", { a: {}, b: { standing: "Unscored", score: null } }, [10, 0]],
    ["a peer of score 0", { a: { score: 100 }, b: { score: 0 } }, [0, 10]],
    ["an own score of 0", { a: { score: 0 }, b: { score: 100 } }, [10, 0]],
  ] as const)("10 replicas stay 10 with %s", (_name, given, parts) => {
    expect(decide(10, given).parts).toEqual(parts);
  });
  test("equal scores of 4 clusters get 6 replicas as 2, 2, 1, 1", () => {
    expect(decide(6, { a: {}, b: {}, c: {}, d: {} }).parts).toEqual([2, 2, 1, 1]);
  });
  test("scores of 100 and 300 get 3 replicas in proportion", () => {
    expect(decide(4, { a: { score: 100 }, b: { score: 300 } }).parts).toEqual([3, 1]);
  });
  test("a big cluster is not worse because its watts add up to more", () => {
    const { parts, after } = decide(10, { small: { score: 200, watts: 40 }, big: { score: 9000, watts: 10 } });
    expect(parts).toEqual([2, 8]);
    expect(after[1]).toMatchObject({ reason: "Weighted", note: "10 W" });
  });
  test("a cluster without room gets none, however good its score", () => {
    const { parts, after, reason } = decide(6, { a: { watts: 1, free: { cpu: 2500 } }, b: { watts: 50 } });
    expect([parts, reason]).toEqual([[2, 4], "Divided"]);
    expect(after[0]).toMatchObject({ reason: "Room", note: "room for 2" });
  });
  test("what was placed since the score was taken counts as used", () => {
    const placedSince = { cpu: 2000, memory: 0, pods: 2 };
    expect(decide(6, { a: { watts: 1, free: { cpu: 2500 }, placedSince }, b: { watts: 50 } }).parts).toEqual([0, 6]);
  });
});

describe("who keeps what", () => {
  test("the same total moves nothing, whatever the scores", () => {
    const { parts, reason, action } = decide(10, { a: { held: 9, watts: 90 }, b: { held: 1, watts: 1 } });
    expect([parts, reason, action]).toEqual([[9, 1], "Unchanged", "keep"]);
  });
  test("a scale-up takes from nobody", () => {
    expect(decide(12, { a: { held: 9, watts: 90 }, b: { held: 1, watts: 1 } }).parts).toEqual([9, 3]);
  });
  test("a scale-down adds to nobody", () => {
    expect(decide(9, { a: { held: 10 }, b: { held: 0 } }).parts).toEqual([9, 0]);
  });
  test("a cluster that cannot be reached keeps its part and gets nothing new", () => {
    const unreachable = { standing: "Unreachable", held: 4 } as const;
    expect(decide(10, { a: { held: 4 }, b: unreachable }).parts).toEqual([6, 4]);
    expect(decide(5, { a: { held: 4 }, b: unreachable }).parts).toEqual([1, 4]);
    expect(decide(2, { a: { held: 4 }, b: unreachable })).toMatchObject({ parts: [0, 4], reason: "HeldElsewhere" });
  });
  test.each(["Unscored", "Paused"] as const)("a cluster that is %s gets nothing new and is not drained", (standing) => {
    const given = { a: { held: 4 }, b: { held: 4, standing, score: null } };
    expect(decide(10, given).parts).toEqual([6, 4]);
    expect(decide(6, given).parts).toEqual([3, 3]);
    expect(decide(10, given).after[1]).toMatchObject({ reason: standing });
  });
  test("without any score the own cluster gets all, and it is said", () => {
    const none = { standing: "Unscored", score: null } as const;
    expect(decide(7, { a: none, b: none })).toMatchObject({ parts: [7, 0], reason: "OwnAlone" });
  });
  test("what fits nowhere is placed in proportion, and said", () => {
    const { parts, reason } = decide(10, { a: { free: { cpu: 2000 } }, b: { free: { cpu: 2000 } } });
    expect([parts, reason]).toEqual([[5, 5], "Unplaced"]);
  });
});

describe("weights", () => {
  test("are free CPU where scores are of capacity", () => {
    const capacity = (cpu: number) => ({ ...scoreOf(500, undefined, { cpu }), source: "capacity" as const });
    const given = members({ a: {}, b: {} });
    const scored = given.map((member, index) => ({ ...member, score: capacity(index === 0 ? 30_000 : 10_000) }));
    expect(decide(8, {}, { members: scored }).parts).toEqual([6, 2]);
  });
  test("are the original's where a predictor is a fake", () => {
    const { parts, after } = decide(4, { a: { score: 100, watts: 0 }, b: { score: 300, watts: 5 } });
    expect(parts).toEqual([3, 1]);
    expect(after[0]).toMatchObject({ note: "score 100" });
  });
});

describe("the policy", () => {
  test("leaves clusters out", () => {
    expect(decide(6, { a: {}, b: {}, c: {} }, policy({ exclude: ["b"] })).parts).toEqual([3, 0, 3]);
    expect(decide(6, { a: {}, b: {}, c: {} }, policy({ include: ["b"] })).parts).toEqual([0, 6, 0]);
  });
  test("weights and minimums replace the scores", () => {
    const given = { a: { watts: 1 }, b: { watts: 99 }, c: {} };
    expect(decide(8, given, policy({ weights: { a: 1, b: 3 } })).parts).toEqual([2, 6, 0]);
    expect(decide(8, given, policy({ divide: "even", minimum: { c: 4 } })).parts).toEqual([2, 2, 4]);
    expect(decide(1, given, policy({ divide: "even", minimum: { c: 4 } })).parts).toEqual([0, 0, 1]);
  });
  test("overflow fills in order and takes back in reverse", () => {
    const overflow = policy({ divide: "overflow", include: ["b", "a"] });
    expect(decide(5, { a: {}, b: { free: { cpu: 3000 } } }, overflow).parts).toEqual([2, 3]);
    expect(decide(4, { a: { held: 2 }, b: { held: 3 } }, overflow).parts).toEqual([1, 3]);
  });
  test("keeps minimums on a scale-down, while there is enough for all of them", () => {
    const least = policy({ weights: { a: 1, b: 9 }, minimum: { a: 2 } });
    expect(decide(10, { a: {}, b: {} }, least).parts).toEqual([2, 8]);
    expect(decide(8, { a: { held: 2 }, b: { held: 8 } }, least).parts).toEqual([2, 6]);
    expect(decide(4, { a: { held: 2 }, b: { held: 8 } }, least).parts).toEqual([2, 2]);
    expect(decide(4, { a: { held: 1 }, b: { held: 9 } }, least).parts).toEqual([1, 3]);
    expect(decide(1, { a: { held: 2 }, b: { held: 8 } }, least).parts).toEqual([0, 1]);
    const unscored = { standing: "Unscored", score: null } as const;
    expect(decide(4, { a: { held: 2, ...unscored }, b: { held: 8 } }, least).parts).toEqual([2, 2]);
  });
  test("keeps minimums before overflow fills, and when it takes back", () => {
    const least = policy({ divide: "overflow", minimum: { b: 2 } });
    expect(decide(10, { a: {}, b: {} }, least).parts).toEqual([8, 2]);
    expect(decide(10, { a: { free: { cpu: 5000 } }, b: {} }, least).parts).toEqual([5, 5]);
    expect(decide(1, { a: {}, b: {} }, least).parts).toEqual([0, 1]);
    expect(decide(5, { a: { held: 8 }, b: { held: 2 } }, least).parts).toEqual([3, 2]);
    expect(decide(1, { a: { held: 8 }, b: { held: 2 } }, least).parts).toEqual([1, 0]);
  });
  test("that has changed divides the same total anew", () => {
    const anew = (change: Partial<SplitPolicy>) => ({ ...policy(change), anew: true });
    const full = { held: 3, free: { cpu: 0 } };
    expect(decide(6, { a: full, b: full, c: {} }, anew({ exclude: ["c"] })).parts).toEqual([3, 3, 0]);
    expect(decide(6, { a: full, b: { held: 3 }, c: {} }, anew({ exclude: ["b"] }))).toMatchObject({
      ...{ parts: [3, 0, 3], action: "split" },
      before: [{ replicas: 3 }, { replicas: 3 }, { replicas: 0 }],
    });
    const paused = { held: 3, standing: "Paused" } as const;
    expect(decide(6, { a: { held: 3 }, b: paused, c: {} }, anew({ divide: "even" })).parts).toEqual([2, 3, 1]);
  });
  test("all gives each cluster the whole number", () => {
    expect(decide(3, { a: {}, b: {} }, policy({ divide: "all" }))).toMatchObject({ parts: [3, 3], reason: "Whole" });
  });
  test.each(["Unscored", "Paused", "Unreachable"] as const)(
    "all gives a cluster that is %s nothing new",
    (standing) => {
      const all = policy({ divide: "all" });
      expect(decide(3, { a: {}, b: { standing } }, all).parts).toEqual([3, 0]);
      expect(decide(3, { a: {}, b: { standing, held: 2 } }, all).parts).toEqual([3, 2]);
    },
  );
  test("all gives the own cluster the whole number where none has a score", () => {
    const none = { standing: "Unscored", score: null } as const;
    expect(decide(3, { a: none, b: none }, policy({ divide: "all" })).parts).toEqual([3, 0]);
  });
  test.each([
    ["evenkeel.io/clusters", "A_b"],
    ["evenkeel.io/clusters", " "],
    ["evenkeel.io/divide", "fairly"],
    ["evenkeel.io/cluster-weights", "a=x"],
    ["evenkeel.io/cluster-weights", "a"],
    ["evenkeel.io/cluster-minimum", "a=1.5"],
  ])("refuses %s: %j", (annotation, value) => {
    expect(policyOf({ [annotation]: value })).toMatchObject({ faults: [{ annotation, value }] });
  });
  test("is read from annotations", () => {
    const annotations = {
      "evenkeel.io/clusters": "a, b,!c",
      "evenkeel.io/divide": "overflow",
      "evenkeel.io/cluster-weights": "a=3,b=0.5",
      "evenkeel.io/cluster-minimum": "b=2",
    };
    const expected = {
      ...{ divide: "overflow", include: ["a", "b"], exclude: ["c"] },
      ...{ weights: { a: 3, b: 0.5 }, minimum: { b: 2 } },
    };
    expect(policyOf(annotations)).toEqual({ policy: expected });
    expect(policyOf({})).toEqual({ policy: NO_POLICY });
  });
});

test("the sentence names each cluster, its part and why", () => {
  const { message } = decide(10, { a: { watts: 38 }, b: { watts: 41 }, c: { watts: 12, free: { cpu: 2000 } } });
  expect(message).toBe("web: 10 replicas: a 4 (38 W), b 4 (41 W), c 2 (room for 2)");
});

/** Karmada's published cases of its division (webstermethod_test.go, division_algorithm_test.go), in our words. */
describe("cases of other schedulers", () => {
  const weighted = (total: number, weights: Record<string, number>, held: Record<string, number> = {}) =>
    decide(
      total,
      Object.fromEntries(Object.keys(weights).map((name) => [name, { held: held[name] ?? 0 }])),
      policy({ weights }),
    ).parts;
  test.each([
    ["nothing to divide", 0, { a: 1, b: 1 }, {}, [0, 0]],
    ["one each", 3, { a: 1, b: 1, c: 1 }, {}, [1, 1, 1]],
    ["in proportion", 12, { a: 18, b: 12, c: 6 }, {}, [6, 4, 2]],
    ["one more than the proportion", 13, { a: 18, b: 12, c: 6 }, {}, [7, 4, 2]],
    ["scaled up from the proportion", 24, { a: 18, b: 12, c: 6 }, { a: 6, b: 4, c: 2 }, [12, 8, 4]],
    ["scaled down to the proportion", 6, { a: 18, b: 12, c: 6 }, { a: 6, b: 4, c: 2 }, [3, 2, 1]],
    ["ties go to the holder", 4, { a: 1, b: 1, c: 1 }, { a: 0, b: 0, c: 2 }, [1, 1, 2]],
    ["a weight of 0 gets nothing", 4, { a: 1, b: 0 }, {}, [4, 0]],
  ])("%s", (_name, total, weights, held, parts) => expect(weighted(total, weights, held)).toEqual(parts));
});
