import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { allowance, type Budget, spend } from "./budget.ts";

const hour = 3_600_000;
const perHour = { limit: 2, window: hour };

/** Tries to spend at each time in turn; returns the times at which it could, and the longest history it had to keep. */
function spentAt(budget: Budget, times: readonly number[]): { spent: number[]; longest: number } {
  const spent: number[] = [];
  let history: readonly number[] = [];
  let longest = 0;
  for (const at of times) {
    const { spent: did, after } = spend(budget, history, at);
    if (did) spent.push(at);
    history = after.history;
    longest = Math.max(longest, history.length);
  }
  return { spent, longest };
}

describe("a budget", () => {
  test("allows its limit at once", () => {
    expect(allowance(perHour, [], 0)).toEqual({ allowed: true, remaining: 2, nextAt: 0, history: [] });
    expect(spend(perHour, [], 0)).toEqual({
      spent: true,
      after: { allowed: true, remaining: 1, nextAt: 0, history: [0] },
    });
    expect(spend(perHour, [0], 0)).toEqual({
      spent: true,
      after: { allowed: false, remaining: 0, nextAt: hour, history: [0, 0] },
    });
  });

  test("says when the next is allowed, and allows it then and not a millisecond before", () => {
    const history = [1_000, 5_000];
    expect(spend(perHour, history, 6_000)).toEqual({
      spent: false,
      after: { allowed: false, remaining: 0, nextAt: hour + 1_000, history },
    });
    expect(allowance(perHour, history, hour + 999).allowed).toBe(false);
    expect(allowance(perHour, history, hour + 1_000)).toEqual({
      allowed: true,
      remaining: 1,
      nextAt: hour + 1_000,
      history: [5_000],
    });
  });

  test("forgets what is older than the window", () => {
    expect(allowance(perHour, [0, 1, 2, 3], 10 * hour).history).toEqual([]);
  });

  test("with a limit of 0 allows nothing, ever", () => {
    expect(spend({ limit: 0, window: hour }, [], 0).after).toEqual({
      allowed: false,
      remaining: 0,
      nextAt: undefined,
      history: [],
    });
    expect(allowance({ limit: 0, window: hour }, [1], 2).nextAt).toBeUndefined();
  });

  test("whose limit was lowered waits until enough has left the window", () => {
    expect(allowance({ limit: 1, window: hour }, [10, 20, 30], 40)).toEqual({
      allowed: false,
      remaining: 0,
      nextAt: hour + 30,
      history: [10, 20, 30],
    });
  });

  test("remembers what a lowered limit no longer needs, in case it is raised again", () => {
    const lowered = allowance({ limit: 1, window: hour }, [10, 20], 30);
    expect(allowance(perHour, lowered.history, 40).allowed).toBe(false);
  });

  test("takes a history in any order", () => {
    expect(allowance(perHour, [5_000, 1_000], 6_000)).toEqual(allowance(perHour, [1_000, 5_000], 6_000));
  });

  test("is shut for one window at most by a clock that jumped back", () => {
    const jumped = allowance(perHour, [1_000 * hour, 1_001 * hour], 0);
    expect(jumped).toEqual({ allowed: false, remaining: 0, nextAt: hour, history: [0, 0] });
    expect(allowance(perHour, jumped.history, hour).allowed).toBe(true);
  });

  test("leaves the history that it is given as it is", () => {
    const history = Object.freeze([3, 1, 2]);
    expect(spend({ limit: 9, window: hour }, history, 4).after.history).toEqual([1, 2, 3, 4]);
    expect(history).toEqual([3, 1, 2]);
  });

  test.each<[string, Budget, number[], number, string]>([
    ["a negative limit", { limit: -1, window: hour }, [], 0, "the budget's limit"],
    ["half a limit", { limit: 0.5, window: hour }, [], 0, "the budget's limit"],
    ["an endless limit", { limit: Infinity, window: hour }, [], 0, "the budget's limit"],
    ["no window", { limit: 1, window: 0 }, [], 0, "the budget's window"],
    ["a window of NaN", { limit: 1, window: NaN }, [], 0, "the budget's window"],
    ["a time of NaN", perHour, [], NaN, "the time"],
    ["a time so great that a window added to it is lost", perHour, [], 1e300, "the time"],
    ["a history with NaN", perHour, [NaN], 0, "the budget's history"],
  ])("refuses %s", (_name, budget, history, at, what) => {
    expect(() => spend(budget, history, at)).toThrow(
      expect.objectContaining({ code: "EK_SCORING_BAD_NUMBER", message: expect.stringContaining(what) as unknown }),
    );
  });

  const budgets = fc.record({ limit: fc.nat(5), window: fc.integer({ min: 1, max: 50 }) });
  const rising = fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 100 }).map((gaps) => {
    let at = 0;
    return gaps.map((gap) => (at += gap));
  });

  test("is never exceeded in any window, and never keeps more than its limit", () => {
    fc.assert(
      fc.property(budgets, rising, (budget, times) => {
        const { spent, longest } = spentAt(budget, times);
        for (const start of spent) {
          const inWindow = spent.filter((at) => at >= start && at < start + budget.window);
          expect(inWindow.length).toBeLessThanOrEqual(budget.limit);
        }
        expect(longest).toBeLessThanOrEqual(budget.limit);
      }),
      { numRuns: 1_000 },
    );
  });

  test("refuses nothing that it could allow", () => {
    fc.assert(
      fc.property(budgets, rising, (budget, times) => {
        const { spent } = spentAt(budget, times);
        const refused = times.filter((at) => !spent.includes(at));
        for (const at of refused) {
          const before = spent.filter((time) => time <= at && time > at - budget.window);
          expect(before.length).toBeGreaterThanOrEqual(budget.limit);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("allows at the time it named and at none before", () => {
    fc.assert(
      fc.property(budgets, fc.array(fc.nat(60), { maxLength: 8 }), fc.nat(60), (budget, history, at) => {
        const now = allowance(budget, history, at);
        if (now.nextAt === undefined) {
          expect(budget.limit).toBe(0);
          return;
        }
        expect(allowance(budget, now.history, now.nextAt).allowed).toBe(true);
        if (now.nextAt > at) expect(allowance(budget, now.history, now.nextAt - 1).allowed).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  test("is not exceeded in true time by a clock that jumps back", () => {
    const step = fc.record({ gap: fc.integer({ min: 0, max: 8 }), back: fc.oneof(fc.constant(0), fc.nat(40)) });
    fc.assert(
      fc.property(budgets, fc.array(step, { maxLength: 60 }), (budget, steps) => {
        let [truth, shown] = [0, 0];
        let history: readonly number[] = [];
        const spent: number[] = [];
        for (const { gap, back } of steps) {
          truth += gap;
          shown += gap - back;
          const { spent: did, after } = spend(budget, history, shown);
          history = after.history;
          if (did) spent.push(truth);
        }
        for (const start of spent) {
          const inWindow = spent.filter((at) => at >= start && at < start + budget.window);
          expect(inWindow.length).toBeLessThanOrEqual(budget.limit);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
