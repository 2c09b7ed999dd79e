import { describe, expect, test } from "@jest/globals";
import { Fleet, nameOf, targetsOf } from "../testing/fleet.ts";
import { Owners } from "./owners.ts";
import { type WhatIf, whatIf } from "./what-if.ts";

function asked(fleet: Fleet, replicas: number): WhatIf {
  const owners = new Owners(fleet.assignments);
  const { settings, targets } = fleet;
  return whatIf({ replicas, at: new Date(fleet.now).toISOString(), settings, owners, targets, nameOf });
}

const loads = (members: WhatIf["after"]) => members.map(({ load }) => Math.round(load));
const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

describe("what if there were", () => {
  test("as many collectors: nothing moves", () => {
    const fleet = new Fleet().run(3);
    fleet.targets = targetsOf(300);
    fleet.settle();
    expect(asked(fleet, 3)).toMatchObject({ movedTargets: 0, movedLoad: 0 });
  });

  test("one more: it gets its share and no more moves than that", () => {
    const fleet = new Fleet().run(3);
    fleet.targets = targetsOf(300);
    const { before, after, movedTargets } = asked(fleet.settle(), 4);
    expect([before.length, after.length]).toEqual([3, 4]);
    expect(movedTargets).toBeGreaterThan(60);
    expect(movedTargets).toBeLessThan(80);
    for (const load of loads(after)) expect(Math.abs(load - 75)).toBeLessThanOrEqual(5);
    expect(sum(after.map(({ targets }) => targets))).toBe(300);
  });

  test("one less: its targets move to the others, also those that are just handed over to it", () => {
    const fleet = new Fleet().run(3);
    fleet.targets = targetsOf(300);
    fleet.settle().run(4);
    fleet.decide();
    expect([...fleet.assignments.exceptions.values()].some(({ from }) => from !== undefined)).toBe(true);
    const { after } = asked(fleet, 3);
    expect(after.map(({ name }) => name)).toEqual([0, 1, 2].map(nameOf));
    expect(sum(loads(after))).toBe(300);
  });

  test("more with zones as pools: new ones are assumed where there are the fewest", () => {
    const zone = (ordinal: number) => ({ zone: ordinal % 2 === 0 ? "a" : "b" });
    const fleet = new Fleet().run(3, zone);
    fleet.settings = { ...fleet.settings, pool: "zone" };
    fleet.targets = targetsOf(300).map((target, index) => ({ ...target, ...zone(index) }));
    const { after } = asked(fleet.settle(), 4);
    expect(after.map(({ zone: of }) => of)).toEqual(["a", "b", "a", "b"]);
  });

  test("collectors before there was any: all targets are given out, and none counts as moved", () => {
    const fleet = new Fleet();
    fleet.targets = targetsOf(100);
    const { before, after, movedTargets } = asked(fleet, 2);
    expect([before.length, movedTargets, sum(loads(after))]).toEqual([0, 0, 100]);
  });
});
