import { expect, test } from "@jest/globals";
import { type Assignments, type Exception, type Member, NO_ASSIGNMENTS } from "./assignments.ts";
import { Owners } from "./owners.ts";

const members: readonly Member[] = [
  { name: "c-0", zone: "a" },
  { name: "c-1", zone: "b" },
  { name: "c-2", zone: "b", leaving: true },
];
const keys = Array.from({ length: 200 }, (_, index) => `app http://10.0.0.${index}:80/metrics`);
const ownersOf = (changes: Partial<Assignments> = {}, before?: Owners) =>
  new Owners({ ...NO_ASSIGNMENTS, members, ...changes }, before);
const withException = (exception: Exception) =>
  ownersOf({ exceptions: new Map([["key", exception]]) }).of({ key: "key" });

test("the order of members does not matter, and one that leaves is nobody's choice", () => {
  const [one, two] = [ownersOf(), ownersOf({ members: members.toReversed() })];
  expect(keys.map((key) => one.of({ key }))).toEqual(keys.map((key) => two.of({ key })));
  expect(new Set(keys.flatMap((key) => one.of({ key })))).toEqual(new Set(["c-0", "c-1"]));
});

test.each<[string, Exception, readonly string[]]>([
  ["an exception goes before the choice", { owner: "c-2", since: 1 }, ["c-2"]],
  ["two during an overlap", { owner: "c-0", from: "c-2", since: 1 }, ["c-0", "c-2"]],
  ["none during a gap", { owner: "c-0", from: "c-2", gap: true, since: 1 }, []],
  ["the new owner if the former is no member", { owner: "c-0", from: "gone", gap: true, since: 1 }, ["c-0"]],
  ["the former owner if the new is no member", { owner: "gone", from: "c-2", since: 1 }, ["c-2"]],
  ["none if it is set apart with a collector that is away", { owner: "gone", since: 1, apart: true }, []],
])("%s", (_, exception, served) => {
  expect(withException(exception)).toEqual(served);
});

test("an exception for a collector that is no member does not count", () => {
  expect(withException({ owner: "gone", since: 1 })).toEqual(ownersOf().of({ key: "key" }));
});

test("a target is with a member of its zone; without one with any, or with nobody", () => {
  const pooled = ownersOf({ pool: "zone" });
  expect(keys.every((key) => pooled.of({ key, zone: "b" })[0] === "c-1")).toBe(true);
  expect(new Set(keys.flatMap((key) => pooled.of({ key, zone: "z" })))).toEqual(new Set(["c-0", "c-1"]));
  const strict = ownersOf({ pool: "zone", fallback: "none" });
  expect(strict.of({ key: "key", zone: "z" })).toEqual([]);
  expect(strict.of({ key: "key" })).toHaveLength(1);
});

test("without members nobody owns anything", () => {
  expect(ownersOf({ members: [] }).of({ key: "key" })).toEqual([]);
});

test("what was worked out for the same members is used again, and for others is not", () => {
  const before = ownersOf();
  const answers = keys.map((key) => before.of({ key }));
  expect(keys.map((key) => ownersOf({ at: 2 }, before).of({ key }))).toEqual(answers);
  const more = [...members, { name: "c-3" }];
  const after = keys.flatMap((key) => ownersOf({ members: more }, before).of({ key }));
  expect(after).toContain("c-3");
});
