import { expect, test } from "@jest/globals";
import { silentCollectors } from "./silent-collectors.ts";

const at = Date.parse("2026-01-01T00:10:00Z");
const seat = (name: string, ordinal: number, times: object) => ({ name, ordinal, awaySince: null, ...times });
const member = (name: string) => ({ name, load: 1, targets: 1 });
const snapshot = {
  at: new Date(at).toISOString(),
  members: ["a", "b", "c", "d"].map(member),
  collectors: [
    seat("a", 0, { readySince: at - 600_000 }),
    seat("b", 1, { readySince: at - 600_000 }),
    seat("c", 2, { readySince: at - 60_000 }),
    seat("d", 3, { awaySince: at - 600_000 }),
  ],
};
const polls = new Map([["a", at - 10_000]]);
const follows = { since: at - 600_000, jobs: ["app"] };

test("a collector that is ready for long and has not asked is silent; a new one and one that is away are not", () => {
  expect(silentCollectors(snapshot, follows, polls, {})).toEqual(["b"]);
});

test("one that asked long ago is silent, by the period at which it should ask", () => {
  const late = new Map([...polls, ["b", at - 180_000] as const]);
  expect(silentCollectors(snapshot, follows, late, {})).toEqual(["b"]);
  expect(silentCollectors(snapshot, follows, late, { targetRefresh: "1m" })).toEqual([]);
});

test.each([
  ["this replica follows the object for a short time", { since: at - 60_000, jobs: ["app"] }],
  ["there is no job", { since: 0, jobs: [] }],
])("nothing is said while %s", (_, about) => {
  expect(silentCollectors(snapshot, about, polls, {})).toEqual([]);
});
