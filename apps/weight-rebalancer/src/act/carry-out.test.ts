import { describe, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import type { ObservedTarget } from "../observe/observer.ts";
import { carryOut } from "./carry-out.ts";
import type { WeightTarget, WriteTerms } from "../targets/weight-target.ts";

/** A place that takes whatever it is told, or fails as it is told. */
class Place implements WeightTarget {
  readonly written: number[] = [];
  readonly name: string;
  readonly range: WeightTarget["range"];
  answer: (terms: WriteTerms) => Promise<void> = () => Promise.resolve();

  constructor(name: string, maximum = 255) {
    this.name = name;
    this.range = { minimum: 0, maximum };
  }

  read(): never {
    throw new Error("nobody reads here");
  }

  async write(weight: number, terms: WriteTerms): Promise<void> {
    await this.answer(terms);
    this.written.push(weight);
  }
}

const observed = (target: Place, weight: number | null, error?: unknown): ObservedTarget => ({
  target,
  error,
  reading: {
    target: target.name,
    ...target.range,
    weight,
    others: [],
    timeToLive: 60_000,
    pending: false,
    message: null,
  },
});

const raise = { action: "raise", after: 16, dryRun: false } as const;
const terms = () => {
  const stop = new AbortController();
  return { clock: new FakeClock(), limit: 60_000, signal: stop.signal, lastLook: () => undefined };
};

describe("carrying out a decision", () => {
  test("writes the weight to every target that has another", async () => {
    const [a, b] = [new Place("a"), new Place("b")];
    const outcomes = await carryOut(raise, [observed(a, 8), observed(b, 16)], terms());
    expect([a.written, b.written]).toEqual([[16], []]);
    expect(outcomes.map(({ actual, wanted, error }) => [actual, wanted, error])).toEqual([
      [16, 16, undefined],
      [16, 16, undefined],
    ]);
  });

  test("gives each target what its range takes", async () => {
    const [record, backend] = [new Place("record"), new Place("backend", 1_000_000)];
    await carryOut({ ...raise, after: 300 }, [observed(record, 8), observed(backend, 8)], terms());
    expect([record.written, backend.written]).toEqual([[255], [300]]);
  });

  test.each([
    ["a hold", { action: "hold", after: 16, dryRun: false } as const, 8],
    ["a dry run", { action: "raise", after: 16, dryRun: true } as const, 8],
    ["a weight that could not be read", raise, null],
    ["a weight that was not decided", { action: "raise", after: null, dryRun: false } as const, 8],
  ])("writes nothing for %s", async (_name, decision, weight) => {
    const a = new Place("a");
    const [outcome] = await carryOut(decision, [observed(a, weight)], terms());
    expect(a.written).toEqual([]);
    expect(outcome?.actual).toBe(weight);
  });

  test("tells what one target refused, and writes the others", async () => {
    const [a, b] = [new Place("a"), new Place("b")];
    const refusal = new Error("no such record");
    a.answer = () => Promise.reject(refusal);
    const outcomes = await carryOut(raise, [observed(a, 8), observed(b, 8)], terms());
    expect(outcomes.map(({ actual, error }) => [actual, error])).toEqual([
      [8, refusal],
      [16, undefined],
    ]);
  });

  test("gives a write up when what was decided is too old, with the target's own reason", async () => {
    const a = new Place("a");
    a.answer = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("the zone is throttled")));
      });
    const options = terms();
    const outcome = carryOut(raise, [observed(a, 8)], options);
    await options.clock.advance(60_000);
    expect((await outcome)[0]?.error).toEqual(new Error("the zone is throttled"));
    expect(a.written).toEqual([]);
  });
});
