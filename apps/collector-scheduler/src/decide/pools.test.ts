import { expect, test } from "@jest/globals";
import { Fleet, nameOf, targetsOf } from "../testing/fleet.ts";

const ZONES = ["a", "b", "c"] as const;
const zoneOf = (ordinal: number) => ({ zone: ZONES[ordinal % 3] as string });

/** Targets in three zones in proportion to `shares`, and collectors by turns. */
function zoned(collectors: number, shares: readonly number[], targets = 600): Fleet {
  const fleet = new Fleet().run(collectors, zoneOf);
  fleet.settings = { ...fleet.settings, pool: "zone" };
  const zones = shares.flatMap((share, zone) => new Array<string>(share).fill(ZONES[zone] as string));
  fleet.targets = targetsOf(targets).map((target, index) => ({
    ...target,
    zone: zones[index % zones.length] as string,
  }));
  return fleet;
}

/** Part of the load that is scraped from another zone. */
function crossing(fleet: Fleet): number {
  const zones = new Map(fleet.assignments.members.map(({ name, zone }) => [name, zone]));
  const served = fleet.served();
  const crosses = fleet.targets.filter(({ key, zone }) => zones.get(served.get(key)?.[0] ?? "") !== zone);
  return crosses.length / fleet.targets.length;
}

/** The greatest distance from the mean among collectors of the same zone, in parts of it. */
function distance(fleet: Fleet): number {
  const loads = fleet.loads();
  const byZone = Map.groupBy(fleet.assignments.members, ({ zone }) => zone);
  const distances = [...byZone.values()].flatMap((members) => {
    const own = members.map(({ name }) => loads.get(name) ?? 0);
    const mean = own.reduce((sum, load) => sum + load, 0) / own.length;
    return own.map((load) => Math.abs(load / mean - 1));
  });
  return Math.max(...distances);
}

test("with three zones no load crosses, and the band holds in each", () => {
  const fleet = zoned(6, [1, 1, 1]).settle();
  expect(crossing(fleet)).toBe(0);
  expect(distance(fleet)).toBeLessThanOrEqual(0.1);
  fleet.run(9, zoneOf);
  fleet.settle();
  expect(crossing(fleet)).toBe(0);
  expect(distance(fleet)).toBeLessThanOrEqual(0.051);
});

test("the targets of a dead collector go to the others of its zone", () => {
  const fleet = zoned(12, [1, 1, 1]).settle();
  fleet.away(nameOf(0));
  fleet.now += 120_000;
  const { moves } = fleet.decide();
  expect(new Set(moves.map(({ to }) => to))).toEqual(new Set([nameOf(3), nameOf(6), nameOf(9)]));
});

test("a zone without a collector falls back on any, or on none", () => {
  const fleet = zoned(2, [1, 1, 1]).settle();
  expect(crossing(fleet)).toBeCloseTo(1 / 3, 5);
  const strict = zoned(2, [1, 1, 1]);
  strict.settings = { ...strict.settings, fallback: "none" };
  strict.settle();
  const nobody = strict.targets.filter(({ key }) => strict.served().get(key)?.length === 0);
  expect(nobody).toHaveLength(200);
  expect(new Set(nobody.map(({ zone }) => zone))).toEqual(new Set(["c"]));
});

test("a target without a zone is at home everywhere", () => {
  const fleet = zoned(3, [1, 1, 1], 90);
  fleet.targets = [...fleet.targets, ...targetsOf(99).slice(90)];
  fleet.settle();
  expect([...fleet.served().values()].every((owners) => owners.length === 1)).toBe(true);
});

test("targets leave a zone that has 25 % more than the mean, and only so many", () => {
  const fleet = zoned(6, [2, 1, 1]).settle();
  const loads = fleet.loads();
  const ofZone = (loads.get(nameOf(0)) ?? 0) + (loads.get(nameOf(3)) ?? 0);
  expect(ofZone).toBeGreaterThan(240);
  expect(ofZone).toBeLessThanOrEqual(250);
  expect(fleet.runFor(300)).toEqual([]);
});

test("they come back when there is room again", () => {
  const fleet = zoned(6, [2, 1, 1]).settle();
  fleet.targets = fleet.targets.filter(({ zone }, index) => zone !== "a" || index % 8 === 0);
  fleet.now += 60_000;
  const { moves } = fleet.decide();
  expect(moves.some(({ reason }) => reason === "BackInPool")).toBe(true);
  fleet.settle();
  expect(crossing(fleet)).toBe(0);
});

test("a target stays when the pools are switched on, unless it is outside its own", () => {
  const fleet = zoned(6, [1, 1, 1]);
  fleet.settings = { ...fleet.settings, pool: "none" };
  fleet.settle();
  const before = crossing(fleet);
  fleet.settings = { ...fleet.settings, pool: "zone" };
  fleet.now += 60_000;
  fleet.settle();
  expect(before).toBeGreaterThan(0.5);
  expect(crossing(fleet)).toBe(0);
});

test("a target under which two owners die is set apart, and waits for its collector", () => {
  const fleet = new Fleet().run(5);
  fleet.targets = targetsOf(40);
  fleet.settle();
  fleet.away(nameOf(0));
  fleet.now += 120_000;
  const orphaned = fleet.decide().moves;
  const heir = orphaned[0]?.to ?? "";
  const suspects = orphaned.filter(({ to }) => to === heir).map(({ key }) => key);
  fleet.away(heir);
  fleet.now += 120_000;
  const moves = fleet.decide().moves.filter(({ reason }) => reason === "SetApart");
  expect(moves.map(({ key }) => key).sort()).toEqual(suspects.sort());
  const [spare, ...others] = new Set(moves.map(({ to }) => to));
  expect(others).toEqual([]);
  fleet.away(spare ?? "");
  fleet.now += 120_000;
  fleet.decide();
  expect(suspects.every((key) => fleet.served().get(key)?.length === 0)).toBe(true);
  fleet.back(spare ?? "");
  fleet.now += 10_000;
  fleet.decide();
  expect(suspects.every((key) => fleet.served().get(key)?.[0] === spare)).toBe(true);
  expect(fleet.snapshot().apart.map(({ key }) => key)).toEqual(expect.arrayContaining(suspects));

  // Its collector has lived with them for an hour, so they are targets like any other again.
  fleet.now += 3_600_000;
  fleet.decide();
  expect(fleet.snapshot().apart).toEqual([]);
  expect(suspects.every((key) => fleet.served().get(key)?.[0] === spare)).toBe(true);
});

test("targets of two lost nodes go to the others, because so many are no sign of a target that kills its collector", () => {
  const fleet = new Fleet().run(4);
  fleet.targets = targetsOf(1200);
  fleet.settle();
  for (const name of [nameOf(3), nameOf(2)]) {
    fleet.away(name);
    fleet.now += 150_000;
    expect(fleet.decide().moves.filter(({ reason }) => reason === "SetApart")).toEqual([]);
  }
  const counts = Map.groupBy(fleet.served().values(), ([owner = ""]) => owner);
  expect([...counts.keys()].sort()).toEqual([nameOf(0), nameOf(1)]);
});

test("targets of two collectors that crashed are set apart, however many they are", () => {
  const fleet = new Fleet().run(3);
  fleet.targets = targetsOf(128);
  fleet.settle();
  const crash = (name: string) => {
    fleet.away(name);
    fleet.collectors = fleet.collectors.map((each) => (each.name === name ? { ...each, hasCrashed: true } : each));
    fleet.now += 120_000;
    return fleet.decide().moves;
  };
  const orphaned = crash(nameOf(0));
  const suspects = orphaned.filter(({ to }) => to === nameOf(1)).map(({ key }) => key);
  expect(suspects.length).toBeGreaterThan(10);
  const moves = crash(nameOf(1)).filter(({ reason }) => reason === "SetApart");
  expect(moves.map(({ key }) => key).sort()).toEqual(suspects.sort());
});

test("the death of an owner is remembered when the target moves on to level the load", () => {
  const fleet = new Fleet().run(3);
  fleet.targets = targetsOf(128);
  fleet.settle();
  fleet.away(nameOf(0));
  fleet.now += 120_000;
  const diedAt = fleet.now;
  const orphaned = new Set(fleet.decide().moves.map(({ key }) => key));
  fleet.back(nameOf(0));
  fleet.now += 10_000;
  const moved = fleet.decide().moves.filter(({ key, to }) => orphaned.has(key) && to === nameOf(0));
  expect(moved).not.toEqual([]);
  fleet.poll();
  fleet.now += 20_000;
  fleet.decide();
  for (const { key } of moved)
    expect(fleet.assignments.exceptions.get(key)).toMatchObject({ owner: nameOf(0), diedAt });
});

test.each([
  ["loads are", { loadFault: "Prometheus is away" }, "LoadUnknown"],
  ["not all targets are", { isDiscovered: false }, "Waiting"],
])("nothing is levelled while %s not known", (_, unknown, reason) => {
  const fleet = new Fleet().run(3);
  fleet.targets = targetsOf(90);
  const served = fleet.settle().served();
  fleet.targets = fleet.targets.map((target) =>
    served.get(target.key)?.[0] === nameOf(0) ? { ...target, load: 3 } : target,
  );
  Object.assign(fleet, unknown);
  fleet.now += 60_000;
  expect(fleet.decide()).toMatchObject({ moves: [], uneven: "LoadUnknown", reason });
});

test("targets stay with their collectors while the zones of nodes are not known after a restart", () => {
  const fleet = zoned(6, [1, 1, 1]);
  fleet.settings = { ...fleet.settings, fallback: "none" };
  fleet.collectors = fleet.collectors.map((collector) => ({ ...collector, node: `node-${collector.ordinal}` }));
  fleet.settle();
  const before = fleet.served();
  fleet.collectors = fleet.collectors.map(({ name, ordinal, node = "", awaySince }) => ({
    name,
    ordinal,
    node,
    awaySince,
  }));
  expect(fleet.decide().moves).toEqual([]);
  expect(fleet.served()).toEqual(before);
});
