import { describe, expect, test } from "@jest/globals";
import { closedLoop, INTERVAL } from "./closed-loop.ts";
import { evenkeel, original, POLICY, SCOPES } from "./controllers.ts";
import { movesInGaps, overload, secondsOutside, settlingTimes, reversals, reversalsAfterSettling } from "./measures.ts";
import { Plant, TTL } from "./plant.ts";
import { stepTrace, type Trace, traces } from "./traces.ts";

function traceOf(name: string): Trace {
  const trace = traces.find((candidate) => candidate.name === name);
  if (!trace) throw new Error(`no trace is called ${name}`);
  return trace;
}

describe.each(SCOPES)("in a closed loop, with a metric of scope %s", (scope) => {
  test("a step settles within three TTLs whenever it comes, and reverses at most once after", () => {
    for (let phase = 0; phase < INTERVAL; phase++) {
      const trace = stepTrace(phase);
      const course = closedLoop(trace, scope, evenkeel(scope));
      expect(Math.max(...settlingTimes(course, trace))).toBeLessThanOrEqual(3);
      expect(reversalsAfterSettling(course, trace)).toBeLessThanOrEqual(1);
      expect(new Set(course.weights).size).toBeGreaterThan(2);
    }
  });

  test.each(["ramp", "daily", "noise", "gaps", "counter reset", "peak"])(
    "%s reverses the weight no more often than the load, within the bounds, and changes nothing during a gap",
    (name) => {
      const trace = traceOf(name);
      const course = closedLoop(trace, scope, evenkeel(scope));
      expect(reversals(course, 0, trace.seconds)).toBeLessThanOrEqual(1);
      expect(secondsOutside(course, POLICY.minimum, POLICY.maximum ?? NaN)).toBe(0);
      expect(course.refused).toBe(0);
      expect(movesInGaps(course, trace)).toBe(0);
    },
  );

  test("a peak beyond all weights is met with the maximum, where the original is refused and stays", () => {
    const trace = traceOf("peak");
    const [ours, theirs] = [closedLoop(trace, scope, evenkeel(scope)), closedLoop(trace, scope, original())];
    expect(Math.max(...ours.weights)).toBe(POLICY.maximum);
    expect(theirs.refused).toBeGreaterThan(0);
    expect(overload(ours)).toBeLessThan(overload(theirs) / 2);
  });
});

describe("the original's rule in the same loop", () => {
  test("never settles when it sees the base alone", () => {
    const trace = stepTrace(0);
    const course = closedLoop(trace, "base", original());
    expect(settlingTimes(course, trace).every((settling) => settling > 20)).toBe(true);
  });

  test("drains the target in a gap of NaN", () => {
    const trace = traceOf("gaps");
    const course = closedLoop(trace, "total", original());
    expect(course.weights[2400]).toBe(POLICY.minimum);
    expect(closedLoop(trace, "total", evenkeel("total")).weights[2400]).toBe(16);
  });
});

describe("the measures", () => {
  const course = { weights: [1, 1, 3, 3, 2, 2, 4, 4], loads: [1, 2, 2, 1.5, 1, 1, 0.5, 1], refused: 0 };

  test("overload adds up what is above the target alone", () => {
    expect(overload(course)).toBe(2.5);
  });

  test("a step settles after its last second away from the target", () => {
    const trace = { ...stepTrace(0), steps: [1, 5], seconds: 8 };
    expect(settlingTimes(course, trace)).toEqual([3 / TTL, 2 / TTL]);
  });

  test("reversals are counted against the last change, even one before", () => {
    expect(reversals(course, 0, 8)).toBe(2);
    expect(reversals(course, 3, 8)).toBe(2);
    expect(reversals(course, 5, 8)).toBe(1);
    expect(reversals(course, 5, 6)).toBe(0);
  });

  test("moves in gaps and seconds outside are counted", () => {
    expect(movesInGaps(course, { ...stepTrace(0), gaps: [[1, 5]] })).toBe(2);
    expect(secondsOutside(course, 2, 3)).toBe(4);
  });
});

describe("the plant", () => {
  test("shifts its clients evenly over a TTL, but for the few that keep an answer too long", () => {
    const plant = new Plant(8, 0);
    expect(plant.baseShare()).toBeCloseTo(1, 12);
    plant.weight = 8;
    for (let second = 0; second < TTL / 2; second++) plant.step();
    expect(plant.baseShare()).toBeCloseTo(0.95 * 0.75 + 0.05 * (1 - 0.5 / 6), 12);
    for (let second = 0; second < TTL / 2; second++) plant.step();
    expect(plant.baseShare()).toBeCloseTo(0.95 * 0.5 + 0.05 * (1 - 0.5 / 3), 12);
    for (let second = 0; second < 2 * TTL; second++) plant.step();
    expect(plant.baseShare()).toBeCloseTo(0.5, 12);
  });
});
