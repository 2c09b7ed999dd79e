import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { CodedError, defineError } from "./error.ts";
import { FakeClock } from "./testing/fake-clock.ts";
import { fullJitter, retry, type RetryOptions } from "./retry.ts";

const Busy = defineError({ code: "EK_TEST_BUSY", recovery: "retryable", message: "busy {n}", remedy: "Wait." });
const Wrong = defineError({ code: "EK_TEST_WRONG", recovery: "terminal", message: "wrong", remedy: "Do right." });

/** Starts retrying `work`; `tries` are the times at which it was called. */
function start(work: (attempt: number) => Promise<string>, options: Partial<RetryOptions> = {}) {
  const clock = new FakeClock();
  const tries: number[] = [];
  const result = retry({ clock, random: () => 1, base: 100, cap: 1000, attempts: 5, ...options }, (attempt) => {
    tries.push(clock.monotonic());
    return work(attempt);
  });
  // Looked at later by each test: until then nobody handles it.
  result.catch(() => undefined);
  return { clock, tries, result };
}

const busy = (attempt: number) => Promise.reject(new Busy({ n: attempt }));

describe("the wait between tries", () => {
  test("lies between nothing and a bound that doubles up to the cap", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.integer({ min: 1, max: 100_000 }),
        fc.integer({ min: 0, max: 2000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (base, cap, attempt, chance) => {
          const wait = fullJitter({ base, cap }, attempt, () => chance);
          expect(wait).toBeGreaterThanOrEqual(0);
          expect(wait).toBeLessThanOrEqual(Math.min(cap, base * 2 ** attempt));
          expect(wait).toBeCloseTo(chance * Math.min(cap, base * 2 ** attempt));
        },
      ),
    );
  });

  test("uses the whole range", () => {
    expect(fullJitter({ base: 100, cap: 1000 }, 2, () => 0)).toBe(0);
    expect(fullJitter({ base: 100, cap: 1000 }, 2, () => 0.5)).toBe(200);
    expect(fullJitter({ base: 100, cap: 1000 }, 9, () => 0.5)).toBe(500);
  });
});

describe("retry", () => {
  test("gives the first success", async () => {
    const { clock, tries, result } = start((attempt) => (attempt < 2 ? busy(attempt) : Promise.resolve("done")));
    await clock.advance(10_000);
    await expect(result).resolves.toBe("done");
    expect(tries).toEqual([0, 100, 300]);
    expect(clock.pending).toBe(0);
  });

  test("rejects with the last error when the tries are used up, and does not wait for nothing", async () => {
    const { clock, tries, result } = start(busy);
    await clock.advance(100 + 200 + 400 + 800);
    await expect(result).rejects.toThrow("busy 4");
    expect(tries).toEqual([0, 100, 300, 700, 1500]);
    expect(clock.pending).toBe(0);
  });

  test.each([
    ["a terminal error", new Wrong({})],
    ["an error without a code", new Error("a defect")],
  ])("does not try again after %s", async (_name, error) => {
    const { tries, result } = start(() => Promise.reject(error));
    await expect(result).rejects.toBe(error);
    expect(tries).toEqual([0]);
  });

  test("lets the caller say what may be retried", async () => {
    const retryable = (error: unknown) => !(error instanceof CodedError);
    const { clock, tries, result } = start(() => Promise.reject(new Error("reset")), { retryable, attempts: 2 });
    await clock.advance(100);
    await expect(result).rejects.toThrow("reset");
    expect(tries).toEqual([0, 100]);
  });

  test("waits as long as the other side asked, even beyond the cap", async () => {
    const { clock, tries } = start(busy, { retryAfter: () => 5000, attempts: 2 });
    await clock.advance(5000);
    expect(tries).toEqual([0, 5000]);
  });

  test("never waits less than its own jitter because the other side asked for less", async () => {
    const { clock, tries } = start(busy, { retryAfter: () => 1, attempts: 2 });
    await clock.advance(100);
    expect(tries).toEqual([0, 100]);
  });

  test("keeps its own waits when the other side asked for none", async () => {
    const { clock, tries } = start(busy, { retryAfter: () => undefined, attempts: 2 });
    await clock.advance(100);
    expect(tries).toEqual([0, 100]);
  });

  test("stops waiting when its signal aborts, with the signal's reason", async () => {
    const controller = new AbortController();
    const { clock, tries, result } = start(busy, { signal: controller.signal });
    await clock.advance(50);
    controller.abort(new Error("stopping"));
    await expect(result).rejects.toThrow("stopping");
    expect([tries, clock.pending]).toEqual([[0], 0]);
  });

  test("does not call the work when the signal has aborted already", async () => {
    const { tries, result } = start(busy, { signal: AbortSignal.abort(new Error("stopping")) });
    await expect(result).rejects.toThrow("stopping");
    expect(tries).toEqual([]);
  });

  test("takes the first try even if told to take none", async () => {
    const { tries, result } = start(busy, { attempts: 0 });
    await expect(result).rejects.toThrow("busy 0");
    expect(tries).toEqual([0]);
  });
});
