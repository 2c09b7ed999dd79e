import { describe, expect, test } from "@jest/globals";
import { type Condition, judge, type Judgement, setConditions } from "./conditions.ts";

const at = (time: string) => Date.parse(time);
const ready: Judgement = {
  type: "Ready",
  status: "True",
  reason: "Tracking",
  message: "all well",
  observedGeneration: 1,
};
const foreign: Condition = {
  type: "SomeoneElses",
  status: "True",
  reason: "Theirs",
  message: "",
  lastTransitionTime: "2020-01-01T00:00:00Z",
};

describe("judging a condition", () => {
  test.each([
    [true, "True"],
    [false, "False"],
    [undefined, "Unknown"],
  ])("%s is %s", (holds, status) => {
    const judged = { type: "Ready", status, reason: "Read", message: "It is read", observedGeneration: 3 };
    expect(judge("Ready", holds, "Read", "It is read", 3)).toEqual(judged);
  });

  test("cuts a message to 2000 characters", () => {
    expect(judge("Ready", true, "Read", "x".repeat(5000), 1).message).toBe("x".repeat(2000));
  });
});

describe("setting conditions", () => {
  test("sets the time of a new one and keeps the position of others", () => {
    expect(setConditions([foreign], [ready], at("2026-01-01T00:00:00.123Z"))).toEqual([
      foreign,
      { ...ready, lastTransitionTime: "2026-01-01T00:00:00Z" },
    ]);
  });

  test("keeps the time while the status stays, whatever else changes", () => {
    const before = setConditions([], [ready], at("2026-01-01T00:00:00Z"));
    const after = setConditions(
      before,
      [{ ...ready, reason: "Minimum", observedGeneration: 2 }],
      at("2026-02-01T00:00:00Z"),
    );
    expect(after).toEqual([
      { ...ready, reason: "Minimum", observedGeneration: 2, lastTransitionTime: "2026-01-01T00:00:00Z" },
    ]);
  });

  test("moves the time when the status changes", () => {
    const before = setConditions([], [ready], at("2026-01-01T00:00:00Z"));
    const [after] = setConditions(before, [{ ...ready, status: "Unknown" }], at("2026-02-01T00:00:00Z"));
    expect(after?.lastTransitionTime).toBe("2026-02-01T00:00:00Z");
  });

  test("returns the same array when nothing differs", () => {
    const before = setConditions([foreign], [ready], at("2026-01-01T00:00:00Z"));
    expect(setConditions(before, [ready], at("2026-02-01T00:00:00Z"))).toBe(before);
  });
});
