import { beforeEach, describe, expect, test } from "@jest/globals";
import { handOversAfter } from "./assignments-after.ts";
import { planOf } from "./plan.ts";
import { Fleet, nameOf, targetsOf } from "../testing/fleet.ts";

const [OLD, NEW] = [nameOf(0), nameOf(1)];

/** Two collectors with a target that moves from the first to the second, because that has joined. */
function moving(handOver: "overlap" | "gap"): {
  fleet: Fleet;
  key: string;
  served: () => readonly string[] | undefined;
} {
  const fleet = new Fleet().run(1);
  fleet.settings = { ...fleet.settings, handOver };
  fleet.targets = targetsOf(20);
  fleet.settle().run(2);
  const { moves } = fleet.decide();
  const key = moves.find(({ from, to }) => from === OLD && to === NEW)?.key ?? "";
  return { fleet, key, served: () => fleet.served().get(key) };
}

describe("a hand-over that overlaps", () => {
  let { fleet, key, served } = moving("overlap");
  beforeEach(() => {
    ({ fleet, key, served } = moving("overlap"));
  });

  test("gives to the new owner, sees its poll, waits 10 s and 0.9 intervals, and takes from the old", () => {
    expect(served()).toEqual([NEW, OLD]);
    fleet.now += 3_600_000;
    expect(fleet.decide()).toMatchObject({ reason: "HandingOver", moves: [], wakeAt: null });
    expect(served()).toEqual([NEW, OLD]);
    fleet.poll([NEW]);
    const polledAt = fleet.now;
    expect(fleet.decide().wakeAt).toBe(polledAt + 19_000);
    fleet.now += 18_999;
    fleet.decide();
    expect(served()).toEqual([NEW, OLD]);
    fleet.now += 1;
    fleet.decide();
    expect(served()).toEqual([NEW]);
  });

  test("does not count a poll that was answered before the target was given", () => {
    const { at } = fleet.assignments;
    fleet.polls = [{ collector: NEW, job: "prometheus/app", seen: at - 1, at: fleet.now + 5000 }];
    fleet.now += 60_000;
    fleet.decide();
    expect(served()).toEqual([NEW, OLD]);
  });

  test("goes on under another leader with what is recorded", () => {
    fleet.poll([NEW]);
    fleet.decide();
    fleet.polls = [];
    fleet.now += 19_000;
    fleet.decide();
    expect(served()).toEqual([NEW]);
  });

  test("gives the target back if the new owner dies, and never leaves it on nobody", () => {
    fleet.away(NEW);
    fleet.now += 119_000;
    fleet.decide();
    expect(served()).toContain(OLD);
    fleet.now += 1000;
    fleet.decide();
    expect(served()).toEqual([OLD]);
  });

  test("waits while the new owner is away after its poll, and for a poll of the pod that comes back", () => {
    fleet.poll([NEW]);
    fleet.decide();
    fleet.away(NEW);
    fleet.now += 30_000;
    expect(fleet.decide()).toMatchObject({ handingOver: 10 });
    expect(served()).toEqual([NEW, OLD]);
    fleet.back(NEW);
    fleet.now += 30_000;
    fleet.decide();
    expect(served()).toEqual([NEW, OLD]);
    fleet.poll([NEW]);
    fleet.now += 19_000;
    fleet.decide();
    expect(served()).toEqual([NEW]);
  });

  test("ends at once if the old owner dies", () => {
    fleet.away(OLD);
    fleet.now += 120_000;
    fleet.decide();
    expect(served()).toEqual([NEW]);
    expect(fleet.decide().handingOver).toBe(0);
  });

  test("is forgotten if the target vanishes", () => {
    fleet.targets = fleet.targets.filter((target) => target.key !== key);
    fleet.decide();
    expect(fleet.assignments.exceptions.has(key)).toBe(false);
  });

  test("places the target anew if both owners die", () => {
    fleet.run(3);
    fleet.decide();
    for (const name of [OLD, NEW]) fleet.away(name);
    fleet.now += 120_000;
    fleet.decide();
    expect(served()).toEqual([nameOf(2)]);
  });

  test("ends also after the clock has jumped back", () => {
    fleet.poll([NEW]);
    fleet.decide();
    fleet.now -= 3_600_000;
    fleet.decide();
    fleet.now += 19_000;
    fleet.decide();
    expect(served()).toEqual([NEW]);
  });
});

describe("a hand-over with a gap", () => {
  let { fleet, served } = moving("gap");
  beforeEach(() => {
    ({ fleet, served } = moving("gap"));
  });

  test("takes from the old owner, sees its poll, waits 10 s, and gives to the new: never two", () => {
    expect(served()).toEqual([]);
    fleet.poll([NEW]);
    fleet.now += 3_600_000;
    fleet.decide();
    expect(served()).toEqual([]);
    fleet.poll([OLD]);
    fleet.decide();
    fleet.now += 9_999;
    fleet.decide();
    expect(served()).toEqual([]);
    fleet.now += 1;
    fleet.decide();
    expect(served()).toEqual([NEW]);
  });

  test("gives to the new owner when the old one dies", () => {
    fleet.away(OLD);
    fleet.now += 120_000;
    fleet.decide();
    expect(served()).toEqual([NEW]);
  });

  test("gives back to the old owner when the new one dies", () => {
    fleet.away(NEW);
    fleet.now += 120_000;
    fleet.decide();
    expect(served()).toEqual([OLD]);
  });
});

describe("while nothing may begin", () => {
  const held = (fleet: Fleet) => {
    const snapshot = fleet.snapshot({ paused: true });
    fleet.assignments = handOversAfter(fleet.assignments, snapshot, planOf(snapshot));
  };

  test("a gap that was begun ends, and nothing else changes", () => {
    const { fleet, served } = moving("gap");
    fleet.poll([OLD]);
    fleet.run(3);
    fleet.now += 60_000;
    held(fleet);
    const { members, memory } = fleet.assignments;
    fleet.now += 10_000;
    held(fleet);
    expect(served()).toEqual([NEW]);
    expect(fleet.assignments).toMatchObject({ members, memory });
    expect(members.map(({ name }) => name)).toEqual([OLD, NEW]);
    const ended = fleet.assignments;
    held(fleet);
    expect(fleet.assignments).toBe(ended);
  });

  test("a target stays with the new owner also where the plan has other members", () => {
    const { fleet, key, served } = moving("overlap");
    fleet.run(6);
    fleet.poll([NEW]);
    held(fleet);
    fleet.now += 19_000;
    held(fleet);
    expect(served()).toEqual([NEW]);
    expect(fleet.assignments.exceptions.get(key)).toMatchObject({ owner: NEW });
  });

  test("a hand-over of two collectors that are away for long waits", () => {
    const { fleet, served } = moving("overlap");
    fleet.run(3);
    for (const name of [OLD, NEW]) fleet.away(name);
    fleet.now += 120_000;
    held(fleet);
    expect(served()).toEqual([NEW, OLD]);
  });
});

test("the policy is for the jobs that it names, and the others overlap", () => {
  const fleet = new Fleet().run(1);
  fleet.settings = { ...fleet.settings, handOver: "gap", handOverJobs: ["prometheus/other"] };
  fleet.targets = targetsOf(20);
  fleet.settle().run(2).decide();
  expect([...fleet.assignments.exceptions.values()].some(({ gap }) => gap === true)).toBe(false);
  expect([...fleet.served().values()].some((owners) => owners.length === 2)).toBe(true);
});

test("a collector that is drained hands everything over, is named, and comes back", () => {
  const fleet = new Fleet().run(3);
  fleet.targets = targetsOf(90);
  fleet.settle();
  fleet.drain = [nameOf(1)];
  fleet.decide();
  fleet.poll();
  fleet.now += 19_000;
  fleet.decide();
  expect(fleet.decide().drained).toEqual([nameOf(1)]);
  expect([...fleet.served().values()].flat()).not.toContain(nameOf(1));
  fleet.drain = [];
  fleet.now += 60_000;
  fleet.settle();
  expect(fleet.loads().get(nameOf(1))).toBeGreaterThanOrEqual(28);
});
