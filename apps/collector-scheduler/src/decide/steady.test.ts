import { expect, test } from "@jest/globals";
import { NO_ASSIGNMENTS } from "./assignments.ts";
import { Fleet, nameOf, targetsOf } from "../testing/fleet.ts";
import { planOf } from "./plan.ts";

const noise = (seed: number) => ((Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) ^ (seed >>> 7)) >>> 0) / 2 ** 32;
const lognormal = (index: number) =>
  Math.exp(1.5 * Math.sqrt(-2 * Math.log(noise(2 * index + 1) || 0.5)) * Math.cos(2 * Math.PI * noise(2 * index + 2)));

const fleetOf = (collectors: number, targets: number, load?: (index: number) => number): Fleet => {
  const fleet = new Fleet().run(collectors);
  fleet.targets = targetsOf(targets, load);
  return fleet.settle();
};

/** The greatest distance of a load from the mean, in parts of it. */
const distance = (fleet: Fleet): number => {
  const loads = [...fleet.loads().values()];
  const mean = loads.reduce((sum, load) => sum + load, 0) / loads.length;
  return Math.max(...loads.map((load) => Math.abs(load / mean - 1)));
};

test("a rolling restart of 10 collectors moves nothing", () => {
  const fleet = fleetOf(10, 1000, lognormal);
  const before = fleet.served();
  for (let ordinal = 9; ordinal >= 0; ordinal -= 1) {
    fleet.away(nameOf(ordinal));
    expect(fleet.runFor(90)).toEqual([]);
    fleet.back(nameOf(ordinal));
    expect(fleet.runFor(30)).toEqual([]);
  }
  expect(fleet.served()).toEqual(before);
});

test("a restart of the scheduler, and another leader, move nothing", () => {
  const fleet = fleetOf(10, 1000, lognormal);
  const before = fleet.served();
  // All that outlives a process is what is recorded.
  const { exceptions, ...rest } = fleet.assignments;
  fleet.assignments = { ...(JSON.parse(JSON.stringify(rest)) as typeof rest), exceptions: new Map(exceptions) };
  fleet.polls = [];
  expect(fleet.runFor(300)).toEqual([]);
  expect(fleet.served()).toEqual(before);
});

test("targets of which only labels change stay, because their key stays", () => {
  const fleet = fleetOf(10, 1000);
  fleet.targets = fleet.targets.map((target) => ({ ...target }));
  expect(fleet.runFor(60)).toEqual([]);
});

test("24 hours of series that jitter by 20 % move nothing", () => {
  const fleet = fleetOf(10, 1000, lognormal);
  const loads = fleet.targets.map(({ load }) => load);
  let moves = 0;
  for (let minute = 0; minute < 24 * 60; minute += 5) {
    fleet.now += 300_000;
    fleet.targets = fleet.targets.map((target, index) => {
      return { ...target, load: (loads[index] as number) * (0.8 + 0.4 * noise(minute * 1000 + index)) };
    });
    moves += fleet.decide().moves.length;
  }
  expect(moves).toBe(0);
});

test.each([3, 7, 10])("50 probes behind one address spread over %p collectors within one", (collectors) => {
  const fleet = new Fleet().run(collectors);
  fleet.targets = targetsOf(50).map((target, index) => ({
    ...{ ...target, job: "prometheus/probe", key: `probe http://prober:9115/probe?target=${index}` },
  }));
  fleet.settle();
  const counts = [...fleet.loads().values()];
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
});

test("a collector that joins gets its share, and the others keep all but that", () => {
  const fleet = fleetOf(10, 2000, lognormal);
  fleet.run(11);
  const { moves, reason } = fleet.decide();
  expect(reason).toBe("CollectorJoined");
  expect(new Set(moves.map(({ to }) => to))).toEqual(new Set([nameOf(10)]));
  expect(new Set(moves.map((move) => move.reason))).toEqual(new Set(["Joined"]));
  const total = fleet.targets.reduce((sum, { load }) => sum + load, 0);
  expect(moves.reduce((sum, { load }) => sum + load, 0) / total).toBeCloseTo(0.95 / 11, 2);
  fleet.settle();
  expect(distance(fleet)).toBeLessThanOrEqual(0.051);
  expect(fleet.assignments.exceptions.size).toBeLessThan(0.12 * 2000);
});

test("load that grows on one collector is levelled, and again only after the cooldown", () => {
  const fleet = fleetOf(4, 400);
  const grow = (name: string, factor: number) => {
    const served = fleet.served();
    fleet.targets = fleet.targets.map((target) =>
      served.get(target.key)?.[0] === name ? { ...target, load: target.load * factor } : target,
    );
  };
  fleet.now += 60_000;
  grow(nameOf(1), 2);
  expect(fleet.decide()).toMatchObject({ reason: "OutOfBand" });
  fleet.settle();
  expect(distance(fleet)).toBeLessThanOrEqual(0.05);
  fleet.assignments = { ...fleet.assignments, memory: { ...fleet.assignments.memory, balancedAt: fleet.now } };
  grow(nameOf(2), 2);
  expect(fleet.decide()).toMatchObject({ reason: "Cooldown", moves: [], wakeAt: fleet.now + 60_000 });
  fleet.now += 60_000;
  expect(fleet.decide()).toMatchObject({ reason: "OutOfBand" });
});

test("no more targets move in a minute than the budget allows, and orphans move all the same", () => {
  const fleet = fleetOf(4, 400);
  fleet.settings = { ...fleet.settings, movesPerMinute: 10, cooldown: 0 };
  fleet.run(5);
  expect(fleet.decide().moves).toHaveLength(10);
  expect(fleet.decide()).toMatchObject({ moves: [], reason: "BudgetSpent", wakeAt: fleet.now + 60_000 });
  fleet.now += 60_000;
  expect(fleet.decide().moves).toHaveLength(10);
  fleet.away(nameOf(0));
  fleet.now += 120_000;
  const { moves } = fleet.decide();
  expect(moves.filter(({ reason }) => reason === "Orphaned").length).toBeGreaterThan(60);
});

test("the same snapshot gives the same plan after it went through JSON", () => {
  const fleet = fleetOf(5, 500, lognormal).run(6);
  const snapshot = fleet.snapshot();
  const [one, two] = [planOf(snapshot), planOf(JSON.parse(JSON.stringify(snapshot)) as typeof snapshot)];
  expect(two).toEqual(one);
  expect(one.moves.length).toBeGreaterThan(0);
});

test("the order of targets does not matter", () => {
  const [one, two] = [fleetOf(5, 500, lognormal).run(6), fleetOf(5, 500, lognormal).run(6)];
  two.targets.reverse();
  one.decide();
  two.decide();
  expect(new Map([...two.assignments.exceptions].sort())).toEqual(new Map([...one.assignments.exceptions].sort()));
});

test("a snapshot without an event holds no targets", () => {
  expect(fleetOf(10, 1000, lognormal).snapshot().targets.key).toEqual([]);
});

test("a target larger than the mean is named", () => {
  const fleet = new Fleet().run(4);
  fleet.targets = targetsOf(100, (index) => (index === 7 ? 200 : 1));
  expect(fleet.decide().large).toEqual([fleet.targets[7]?.key]);
  expect(fleet.assignments).not.toBe(NO_ASSIGNMENTS);
});
