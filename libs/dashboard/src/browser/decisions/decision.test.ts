import { describe, expect, test } from "@jest/globals";
import { type Decision, fits, isChange } from "./decision.ts";
import { mergeDecisions } from "./decision-log.ts";

function decision(id: string, second: number, more: Partial<Decision> = {}): Decision {
  return {
    id,
    at: new Date(second * 1000).toISOString(),
    object: { kind: "Tank", namespace: "ship", name: "fore" },
    action: "pump",
    reason: "Low",
    before: 1,
    after: 2,
    message: "from 1 to 2",
    dryRun: false,
    ...more,
  };
}

describe("merging", () => {
  test("keeps the newest first and each once, however a stream repeats", () => {
    const first = mergeDecisions([], [decision("a", 1), decision("b", 2)]);
    const second = mergeDecisions(first, [decision("a", 1), decision("b", 2), decision("c", 3), decision("c", 3)]);
    expect(second.map(({ id }) => id)).toEqual(["c", "b", "a"]);
  });

  test("keeps the order in which those of one moment came", () => {
    expect(mergeDecisions([decision("a", 1)], [decision("b", 1), decision("c", 1)]).map(({ id }) => id)).toEqual([
      "c",
      "b",
      "a",
    ]);
  });

  test("gives the same list back when nothing is new", () => {
    const known = [decision("a", 1)];
    expect(mergeDecisions(known, [decision("a", 1)])).toBe(known);
  });

  test("lets the oldest go beyond a thousand", () => {
    const many = Array.from({ length: 1005 }, (_, index) => decision(String(index), index));
    const kept = mergeDecisions([], many);
    expect([kept.length, kept[0]?.id, kept.at(-1)?.id]).toEqual([1000, "1004", "5"]);
  });
});

const any = { text: "", action: "", reason: "", changesOnly: false };

test.each([
  [{}, true],
  [{ text: "SHIP/fore" }, true],
  [{ text: "aft" }, false],
  [{ action: "pump", reason: "Low" }, true],
  [{ action: "hold" }, false],
  [{ reason: "Level" }, false],
  [{ changesOnly: true }, true],
])("the filter %j lets it through: %p", (filter, expected) => {
  expect(fits(decision("a", 1), { ...any, ...filter })).toBe(expected);
});

test("a hold is no change, nor is unknown before and after", () => {
  expect(isChange(decision("a", 1, { before: 2, after: 2 }))).toBe(false);
  expect(isChange(decision("a", 1, { before: null, after: undefined }))).toBe(false);
  expect(isChange(decision("a", 1, { before: null, after: 0 }))).toBe(true);
});
