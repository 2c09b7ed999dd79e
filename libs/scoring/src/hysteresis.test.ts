import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Band, type BandState, bandWithMargin, type Classification, classify, startWithin } from "./hysteresis.ts";

const minute = 60_000;
const atOnce = bandWithMargin(0.5, 0.8, 0.05, 0);
const patient = bandWithMargin(0.5, 0.8, 0.05, 2 * minute);

/** Feeds samples a minute apart, starting within the band; returns what each led to. */
function fed(band: Band, samples: readonly (number | undefined)[]): Classification[] {
  let state = startWithin(0);
  return samples.map((sample, index) => {
    const next = classify(band, state, sample, (index + 1) * minute);
    state = next.state;
    return next;
  });
}

const levels = (band: Band, samples: readonly (number | undefined)[]) =>
  fed(band, samples).map(({ state }) => state.level);
const reasons = (band: Band, samples: readonly (number | undefined)[]) =>
  fed(band, samples).map(({ reason }) => reason);

describe("a band without dwell", () => {
  test("is entered at its thresholds and left only beyond the margin", () => {
    expect(levels(atOnce, [0.79, 0.8, 0.79, 0.75, 0.74])).toEqual(["within", "above", "above", "above", "within"]);
    expect(levels(atOnce, [0.51, 0.5, 0.51, 0.55, 0.56])).toEqual(["within", "below", "below", "below", "within"]);
  });

  test("may be crossed from one side to the other", () => {
    expect(levels(atOnce, [0.9, 0.1, 0.9])).toEqual(["above", "below", "above"]);
  });

  test("says that it crossed, and when", () => {
    expect(fed(atOnce, [0.9])).toEqual([
      { state: { level: "above", since: minute }, changed: true, reason: "Crossed" },
    ]);
  });

  test("whose edges overlap still lets a level out on the other side", () => {
    const overlapping = bandWithMargin(0.5, 0.6, 0.3, 0);
    expect(levels(overlapping, [0.7, 0.5, 0.59, 0.6, 0.51])).toEqual(["above", "below", "below", "above", "above"]);
  });
});

describe("a band with dwell", () => {
  test("changes only after samples have insisted for that long", () => {
    expect(levels(patient, [0.9, 0.9, 0.9, 0.9])).toEqual(["within", "within", "above", "above"]);
    expect(reasons(patient, [0.9, 0.9, 0.9, 0.9])).toEqual(["Dwelling", "Dwelling", "Crossed", "Steady"]);
  });

  test("starts over when a sample points back", () => {
    expect(levels(patient, [0.9, 0.9, 0.7, 0.9, 0.9, 0.9])).toEqual([
      "within",
      "within",
      "within",
      "within",
      "within",
      "above",
    ]);
  });

  test("starts over when samples swing from one side to the other", () => {
    expect(levels(patient, [0.9, 0.9, 0.1, 0.9, 0.1, 0.9]).every((level) => level === "within")).toBe(true);
  });

  test("leaves one side although samples sit on the edge of the other", () => {
    const samples = [0.9, 0.9, 0.9, 0.5, 0.56, 0.5, 0.56, 0.5];
    expect(levels(patient, samples)).toEqual([
      "within",
      "within",
      "above",
      "above",
      "above",
      "within",
      "within",
      "within",
    ]);
  });

  test("crosses to the far side when all samples point there", () => {
    expect(levels(patient, [0.9, 0.9, 0.9, 0.1, 0.1, 0.1]).at(-1)).toBe("below");
  });
});

describe("an unknown sample", () => {
  test("leaves the level, whatever it is", () => {
    expect(levels(atOnce, [0.9, undefined, undefined])).toEqual(["above", "above", "above"]);
    expect(reasons(atOnce, [undefined, 0.9, undefined])).toEqual(["Unknown", "Crossed", "Unknown"]);
  });

  test("does not let its time count towards the dwell", () => {
    expect(levels(patient, [0.9, undefined, undefined, undefined, 0.9]).at(-1)).toBe("within");
    expect(levels(patient, [0.9, undefined, 0.9, 0.9, 0.9])).toEqual(["within", "within", "within", "within", "above"]);
  });

  test("gives back the state it was given when there is nothing to forget", () => {
    const state: BandState = { level: "above", since: 5 };
    expect(classify(patient, state, undefined, 10).state).toBe(state);
  });
});

describe("a state", () => {
  test("is the same object while nothing in it changes", () => {
    const state = startWithin(0);
    expect(classify(patient, state, 0.6, minute).state).toBe(state);
  });

  test("survives JSON in the middle of a dwell", () => {
    const half = fed(patient, [0.9, 0.9])[1]?.state;
    const restored = JSON.parse(JSON.stringify(half)) as BandState;
    expect(classify(patient, restored, 0.9, 3 * minute)).toMatchObject({ changed: true, state: { level: "above" } });
  });

  test("does not count the time of a clock that jumped back", () => {
    const dwelling = classify(patient, startWithin(1_000 * minute), 0.9, 1_001 * minute).state;
    const jumped = classify(patient, dwelling, 0.9, 0).state;
    expect(jumped.pending).toEqual({ level: "above", dwelt: 0, seenAt: 0 });
    expect(classify(patient, jumped, 0.9, 2 * minute).changed).toBe(true);
  });
});

describe("a band", () => {
  test("with a margin has exact decimal edges", () => {
    expect(bandWithMargin(0.1, 0.3, 0.1, 5)).toEqual({
      low: { enter: 0.1, leave: 0.2 },
      high: { enter: 0.3, leave: 0.2 },
      dwell: 5,
    });
  });

  test.each<[string, Band, string]>([
    ["edges out of order", { ...atOnce, high: { enter: 0.4, leave: 0.4 } }, "EK_SCORING_WRONG_ORDER"],
    ["a high edge with leave above enter", { ...atOnce, high: { enter: 0.8, leave: 0.9 } }, "EK_SCORING_WRONG_ORDER"],
    ["a low edge with leave below enter", { ...atOnce, low: { enter: 0.5, leave: 0.4 } }, "EK_SCORING_WRONG_ORDER"],
    ["an edge of NaN", { ...atOnce, low: { enter: NaN, leave: 0.4 } }, "EK_SCORING_BAD_NUMBER"],
    ["an infinite edge", { ...atOnce, high: { enter: Infinity, leave: 0.9 } }, "EK_SCORING_BAD_NUMBER"],
    ["a negative dwell", { ...atOnce, dwell: -1 }, "EK_SCORING_BAD_NUMBER"],
  ])("is refused with %s", (_name, band, code) => {
    expect(() => classify(band, startWithin(0), 0.6, 1)).toThrow(expect.objectContaining({ code }));
  });

  test("is refused with a negative margin", () => {
    expect(() => bandWithMargin(0.5, 0.8, -0.1, 0)).toThrow(/the band's margin/);
  });

  test.each([NaN, Infinity, -Infinity])("refuses the sample %p", (sample) => {
    expect(() => classify(atOnce, startWithin(0), sample, 1)).toThrow(
      expect.objectContaining({ code: "EK_SCORING_BAD_NUMBER" }),
    );
  });

  const sample = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined, freq: 5 });
  const series = fc.array(sample, { maxLength: 40 });

  test("changes at most once under noise that is no wider than its margin", () => {
    const noise = fc.array(fc.double({ min: 0, max: 0.05, noNaN: true }), { maxLength: 40 });
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), noise, fc.nat(3), (centre, offsets, dwell) => {
        const band = bandWithMargin(0.5, 0.8, 0.0500001, dwell * minute);
        const changes = fed(
          band,
          offsets.map((offset) => centre + offset),
        ).filter(({ changed }) => changed);
        expect(changes.length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 2_000 },
    );
  });

  test("never changes sooner than its dwell after it changed", () => {
    fc.assert(
      fc.property(series, fc.nat(4), (samples, dwell) => {
        const band = bandWithMargin(0.5, 0.8, 0.05, dwell * minute);
        const times = fed(band, samples).flatMap(({ changed, state }) => (changed ? [state.since] : []));
        times.forEach((time, index) =>
          expect(time - (times[index - 1] ?? -Infinity)).toBeGreaterThanOrEqual(dwell * minute),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  test("changes on a known sample alone, and always says so", () => {
    fc.assert(
      fc.property(series, fc.nat(2), (samples, dwell) => {
        let before = startWithin(0);
        fed(bandWithMargin(0.5, 0.8, 0.05, dwell * minute), samples).forEach(({ changed, reason, state }, index) => {
          expect(changed).toBe(state.level !== before.level);
          expect(changed).toBe(reason === "Crossed");
          expect(reason === "Unknown").toBe(samples[index] === undefined);
          before = state;
        });
      }),
      { numRuns: 1_000 },
    );
  });
});
