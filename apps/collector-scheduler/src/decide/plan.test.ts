import { expect, test } from "@jest/globals";
import { Fleet, nameOf, targetsOf } from "../testing/fleet.ts";

const fleetOf = (collectors: number, targets: number): Fleet => {
  const fleet = new Fleet().run(collectors);
  fleet.targets = targetsOf(targets);
  return fleet.settle();
};

test("gives each target one owner when the first collectors are ready", () => {
  const fleet = new Fleet().run(3);
  fleet.targets = targetsOf(300);
  expect(fleet.decide().reason).toBe("CollectorJoined");
  expect([...fleet.served().values()].every((owners) => owners.length === 1)).toBe(true);
  expect(new Set([...fleet.served().values()].flat()).size).toBe(3);
  expect(fleet.decide()).toMatchObject({ moves: [], reason: "Balanced" });
});

test("records nothing when nothing changes", () => {
  const fleet = fleetOf(3, 300);
  const before = fleet.assignments;
  fleet.now += 3_600_000;
  fleet.decide();
  expect(fleet.assignments).toBe(before);
});

test("a collector that restarts within seatGrace keeps its targets", () => {
  const fleet = fleetOf(3, 300);
  fleet.away(nameOf(1));
  fleet.now += 119_000;
  expect(fleet.decide()).toMatchObject({ moves: [], reason: "SeatKept", wakeAt: fleet.now + 1000 });
  fleet.back(nameOf(1));
  fleet.now += 119_000;
  expect(fleet.decide()).toMatchObject({ moves: [], reason: "Balanced" });
});

test("a collector that is away for longer loses its targets to the others, and to them alone", () => {
  const fleet = fleetOf(3, 300);
  const owned = [...fleet.served()].filter(([, [owner]]) => owner === nameOf(1));
  fleet.away(nameOf(1));
  fleet.now += 120_000;
  const { moves, reason } = fleet.decide();
  expect(reason).toBe("Orphans");
  expect(moves.map(({ key }) => key).sort()).toEqual(owned.map(([key]) => key).sort());
  expect([...fleet.served().values()].every(([owner]) => owner !== undefined && owner !== nameOf(1))).toBe(true);
});

test("nobody dies while no collector is ready", () => {
  const fleet = fleetOf(3, 300);
  for (const { name } of fleet.collectors) fleet.away(name);
  fleet.now += 3_600_000;
  expect(fleet.decide()).toMatchObject({ moves: [], membership: { dead: [] } });
});

test("the highest ordinal hands its targets over before the set shrinks", () => {
  const fleet = fleetOf(3, 300);
  fleet.scale = { ...fleet.scale, replicas: 2 };
  expect(fleet.decide()).toMatchObject({ reason: "CollectorLeft", replicas: 3 });
  expect([...fleet.served().values()].filter((owners) => owners.length === 2).length).toBeGreaterThan(50);
  fleet.settle();
  expect(fleet.decide()).toMatchObject({ replicas: 2, moves: [] });
  expect(fleet.assignments.members.map(({ name }) => name)).toEqual([nameOf(0), nameOf(1)]);
});

test.each([
  ["spec.replicas", { replicas: 0 }],
  ["the scaler", { scaler: { expectedTargets: 100, min: 0, max: 0 } }],
])("no collector is left when %s says 0", (_, scale) => {
  const fleet = fleetOf(3, 300);
  fleet.scale = { ...fleet.scale, ...scale };
  expect(fleet.decide()).toMatchObject({ reason: "CollectorLeft", replicas: 0, handingOver: 0 });
  expect(fleet.assignments.members).toEqual([]);
  expect(fleet.decide()).toMatchObject({ reason: "NoCollector", replicas: 0, moves: [] });
});

test("collectors leave at once when none is wanted in the middle of a hand-over", () => {
  const fleet = fleetOf(2, 300);
  fleet.run(3).decide();
  fleet.scale = { ...fleet.scale, replicas: 0 };
  expect(fleet.decide()).toMatchObject({ replicas: 0, handingOver: 0 });
  expect([...fleet.assignments.exceptions]).toEqual([]);
  fleet.run(2).settle();
  expect([...fleet.served().values()].every((owners) => owners.length === 1)).toBe(true);
});

test("the targets of a dead collector go to none that is away, unless all are", () => {
  const fleet = fleetOf(4, 400);
  fleet.away(nameOf(1));
  fleet.now += 60_000;
  fleet.away(nameOf(2));
  fleet.now += 60_000;
  const { moves } = fleet.decide();
  expect(moves.length).toBeGreaterThan(50);
  expect(new Set(moves.map(({ to }) => to))).toEqual(new Set([nameOf(0), nameOf(3)]));
});

test("an eleventh collector gets its share when its pod is ready, also within the cooldown", () => {
  const fleet = fleetOf(10, 1100);
  const { memory } = fleet.assignments;
  fleet.assignments = { ...fleet.assignments, memory: { ...memory, balancedAt: fleet.now } };
  const before = fleet.served();
  fleet.now += 1000;
  fleet.run(11).back(nameOf(10));
  expect(fleet.decide()).toMatchObject({ reason: "CollectorJoined", membership: { joined: [nameOf(10)] } });
  const after = [...fleet.served()];
  expect(after.filter(([, owners]) => owners.includes(nameOf(10))).length).toBeGreaterThanOrEqual(95);
  // Nobody stops before the new one has begun.
  for (const [key, owners] of after) expect(owners).toContain(before.get(key)?.[0]);
  expect(fleet.loads().get(nameOf(10))).toBeGreaterThanOrEqual(95);
});

const waiting: readonly [string, (fleet: Fleet) => void][] = [
  [
    "whose container has crashed",
    (fleet) =>
      (fleet.collectors = fleet.collectors.map((each, at) => (at === 2 ? { ...each, hasCrashed: true } : each))),
  ],
  ["under the policy gap", (fleet) => (fleet.settings = { ...fleet.settings, handOver: "gap" })],
  [
    "during a restart with hand-over",
    (fleet) => (fleet.restart = { policy: "handOver", outdated: [nameOf(0)], partition: 0 }),
  ],
];

test.each(waiting)("a collector %s joins after it was ready for 10 s", (_, change) => {
  const fleet = fleetOf(2, 300).run(3);
  fleet.back(nameOf(2));
  change(fleet);
  expect(fleet.decide()).toMatchObject({ moves: [], membership: { joined: [] }, wakeAt: fleet.now + 10_000 });
  fleet.now += 10_000;
  expect(fleet.decide()).toMatchObject({ reason: "CollectorJoined", membership: { joined: [nameOf(2)] } });
});

test("a new collector that crashes again and again never takes a target from its owner", () => {
  const fleet = fleetOf(2, 300);
  const before = fleet.served();
  fleet.run(3);
  for (let round = 0; round < 4; round += 1) {
    fleet.back(nameOf(2));
    fleet.decide();
    fleet.poll();
    fleet.now += 2000;
    fleet.away(nameOf(2));
    for (const end = fleet.now + 150_000; fleet.now < end; fleet.now += 10_000) {
      fleet.decide();
      fleet.poll();
      const served = fleet.served();
      for (const [key, [owner = ""]] of before) expect(served.get(key)).toContain(owner);
    }
  }
  expect(fleet.assignments.members).toHaveLength(2);
});

test("no target changes its collector without a hand-over when one joins", () => {
  const fleet = fleetOf(3, 300);
  // Each is with its rendezvous owner, by an exception that says no more than that.
  const before = fleet.served();
  const since = fleet.assignments.at;
  const exceptions = new Map([...before].map(([key, [owner = ""]]) => [key, { owner, since }]));
  fleet.assignments = { ...fleet.assignments, exceptions };
  fleet.run(4).decide();
  const after = fleet.served();
  for (const [key, [owner = ""]] of before) expect(after.get(key)).toContain(owner);
});

test("the first collector waits until all are ready, or until it was ready for a while", () => {
  const fleet = new Fleet().run(3);
  fleet.targets = targetsOf(30);
  for (const ordinal of [1, 2]) fleet.away(nameOf(ordinal));
  fleet.back(nameOf(0));
  const first = fleet.decide();
  expect([first.membership.joined, first.wakeAt]).toEqual([[], fleet.now + 10_000]);
  fleet.back(nameOf(1));
  fleet.back(nameOf(2));
  expect(fleet.decide().membership.joined).toHaveLength(3);

  const alone = new Fleet().run(3);
  for (const ordinal of [1, 2]) alone.away(nameOf(ordinal));
  alone.back(nameOf(0));
  alone.now += 10_000;
  expect(alone.decide().membership.joined).toEqual([nameOf(0)]);
});
