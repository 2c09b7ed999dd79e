import { expect, test } from "@jest/globals";
import { jsonGroups } from "./group-document.ts";

const read = (...groups: readonly object[]) => jsonGroups(JSON.stringify(groups), "here", "__meta_url");
const targets = (count: number) => ({ targets: Array.from({ length: count }, (_, index) => `a:${index}`) });

test.each([
  ["more targets in all than are taken", [targets(150_000), targets(50_001)]],
  ["more labels than a group may have", [{ targets: ["a"], labels: { a: "x".repeat(65_536) } }]],
  ["an address that is too long", [{ targets: ["a".repeat(65_537)] }]],
])("refuses %s", (_what, groups) => {
  expect(() => read(...groups)).toThrow(/at most/);
});

test("splits a large group into parts of which each is relabelled in one go", () => {
  const groups = read(targets(2500), targets(1));
  expect(groups.map(({ source, targets: { length } }) => [source, length])).toEqual([
    ["here:0", 1000],
    ["here:0/1", 1000],
    ["here:0/2", 500],
    ["here:1", 1],
  ]);
  expect(groups.map(({ labels }) => labels.get("__meta_url"))).toEqual(["here", "here", "here", "here"]);
  expect(groups.flatMap((group) => group.targets.map((each) => each.get("__address__")))).toHaveLength(2501);
});
