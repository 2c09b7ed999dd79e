import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { pausedSizes, recreateSizes, rollingSizes, type Size } from "./rollout.ts";

const size = (name: string, wanted: number, available = wanted): Size => ({
  ...{ name, wanted, available, present: wanted },
});
const limits = { replicas: 4, maxSurge: 1, maxUnavailable: 1 };

describe("the sizes of a rolling update", () => {
  test.each([
    ["first deployment", size("new", 0), [], { new: 4 }],
    ["the surge opens the way", size("new", 0), [size("old", 4)], { new: 1, old: 3 }],
    [
      "an old one that is not available goes first",
      size("new", 1, 1),
      [size("older", 2, 1), size("old", 2)],
      { new: 1, older: 0, old: 2 },
    ],
    ["nothing moves while the new pods are not there", size("new", 2, 0), [size("old", 3)], { new: 2, old: 3 }],
    ["the last step", size("new", 4), [size("old", 1)], { new: 4, old: 0 }],
    ["fewer replicas", size("new", 6), [], { new: 4 }],
  ])("%s", (_name, fresh, old, expected) => {
    expect(Object.fromEntries(rollingSizes(limits, fresh, old))).toEqual(expected);
  });

  test("stay within both limits and reach the end, whatever they are", () => {
    const count = fc.integer({ min: 0, max: 20 });
    fc.assert(
      fc.property(count, count, count, (replicas, maxSurge, unavailable) => {
        const maxUnavailable = Math.min(replicas, maxSurge === 0 ? Math.max(1, unavailable) : unavailable);
        let [fresh, old] = [0, replicas];
        for (let step = 0; step < 50; step++) {
          const sizes = rollingSizes({ replicas, maxSurge, maxUnavailable }, size("new", fresh), [size("old", old)]);
          // Pods go at once and come before the next step: the least that is available is what is kept of both.
          const kept = Math.min(fresh, sizes.get("new") ?? 0) + Math.min(old, sizes.get("old") ?? 0);
          expect(kept).toBeGreaterThanOrEqual(replicas - maxUnavailable);
          [fresh, old] = [sizes.get("new") ?? 0, sizes.get("old") ?? 0];
          expect(fresh + old).toBeLessThanOrEqual(replicas + maxSurge);
        }
        expect([fresh, old]).toEqual([replicas, 0]);
      }),
    );
  });
});

describe("the sizes of a recreation", () => {
  test("bring no new pod while an old one is there", () => {
    expect(Object.fromEntries(recreateSizes(2, size("new", 0), [size("old", 2)]))).toEqual({ new: 0, old: 0 });
    const leaving = { ...size("old", 0), present: 1 };
    expect(recreateSizes(2, size("new", 0), [leaving]).get("new")).toBe(0);
    expect(recreateSizes(2, size("new", 0), [size("old", 0)]).get("new")).toBe(2);
  });
});

test("a paused Deployment scales its newest ReplicaSet and leaves the others", () => {
  expect(Object.fromEntries(pausedSizes(5, size("newest", 1), [size("old", 2)]))).toEqual({ newest: 3 });
});
