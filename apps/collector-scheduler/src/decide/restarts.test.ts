import { expect, test } from "@jest/globals";
import { Fleet, nameOf, targetsOf } from "../testing/fleet.ts";
import { drainedForRestart } from "./restarts.ts";

/** A fleet whose StatefulSet has a new template: every pod is outdated. */
function outdated(count: number, place?: Parameters<Fleet["run"]>[1]): Fleet {
  const fleet = new Fleet().run(count, place);
  fleet.targets = targetsOf(400);
  fleet.settle();
  const names = fleet.collectors.map(({ name }) => name);
  fleet.restart = { policy: "handOver", outdated: names, partition: count };
  return fleet;
}

const decide = (fleet: Fleet) => {
  fleet.drain = [...drainedForRestart(fleet.snapshot())];
  return fleet.decide();
};

/** What the StatefulSet's controller does: it replaces outdated pods from the partition on. A pod is away for 30 s. */
function roll(fleet: Fleet, partition: number): void {
  for (const { name, ordinal, awaySince } of fleet.collectors) {
    const isOld = fleet.restart.outdated?.includes(name) ?? false;
    if (isOld && ordinal >= partition) {
      fleet.away(name);
      const rest = fleet.restart.outdated?.filter((each) => each !== name) ?? [];
      fleet.restart = { ...fleet.restart, outdated: rest, partition };
    } else if (awaySince !== null && fleet.now - awaySince >= 30_000) fleet.back(name);
  }
}

test("each collector hands its targets over before it restarts, to the one that came back before it", () => {
  const fleet = outdated(4);
  const restarted: string[] = [];
  let moved = 0;
  for (let round = 0; round < 120; round += 1) {
    const plan = decide(fleet);
    moved += plan.moves.length;
    const before = new Set(fleet.restart.outdated);
    roll(fleet, plan.partition ?? 0);
    for (const name of before) if (!fleet.restart.outdated?.includes(name)) restarted.push(name);
    const away = fleet.collectors.filter(({ awaySince }) => awaySince !== null).map(({ name }) => name);
    expect(away.length).toBeLessThan(2);
    const unserved = [...fleet.served()].filter(([, owners]) => owners.every((name) => away.includes(name)));
    expect(unserved).toEqual([]);
    fleet.poll();
    fleet.now += 5000;
  }
  expect(restarted).toEqual([3, 2, 1, 0].map(nameOf));
  // All but the first go to the one that came back, and the last one takes its share again: 1 + 2 / 4.
  expect(moved).toBeLessThan(1.55 * 400);
  expect([...fleet.loads().values()].every((load) => load >= 90 && load <= 110)).toBe(true);
  expect(decide(fleet)).toMatchObject({ partition: 4, reason: "Balanced" });
});

test("no collector is drained while one that was restarted is not back", () => {
  const fleet = outdated(3);
  fleet.restart = { policy: "handOver", outdated: [nameOf(0), nameOf(1)], partition: 2 };
  fleet.away(nameOf(2));
  expect(decide(fleet)).toMatchObject({ partition: 2, moves: [], reason: "Restarting" });
  fleet.back(nameOf(2));
  fleet.now += 1000;
  expect(decide(fleet).moves).toEqual([]);
  fleet.now += 10_000;
  expect(decide(fleet).moves.map(({ from }) => from)).toContain(nameOf(1));
});

test.each([
  ["the only collector", 1, undefined, "any", 0],
  [
    "the only one of its zone, whose targets may not leave it",
    2,
    (ordinal: number) => ({ zone: `z${ordinal}` }),
    "none",
    1,
  ],
] as const)("%s is restarted although nobody can take its targets", (_, count, place, fallback, partition) => {
  const fleet = outdated(count, place);
  fleet.settings = { ...fleet.settings, pool: place ? "zone" : "none", fallback };
  expect(decide(fleet)).toMatchObject({ partition, moves: [] });
});

test("an outdated collector that does not run is replaced at once, also if none runs", () => {
  const fleet = outdated(2);
  for (const { name } of fleet.collectors) fleet.away(name);
  expect(decide(fleet)).toMatchObject({ partition: 1, moves: [] });
});

test("nothing restarts while it is not known which pods are outdated", () => {
  const fleet = outdated(3);
  fleet.restart = { policy: "handOver", outdated: null, partition: 2 };
  expect(decide(fleet)).toMatchObject({ partition: 2, moves: [] });
});

test("with restart: wait the StatefulSet restarts collectors by itself", () => {
  const fleet = outdated(3);
  fleet.restart = { ...fleet.restart, policy: "wait" };
  expect(decide(fleet)).toMatchObject({ partition: null, moves: [] });
});
