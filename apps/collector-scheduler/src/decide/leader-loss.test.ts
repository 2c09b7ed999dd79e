import { expect, test } from "@jest/globals";
import { Fleet, targetsOf } from "../testing/fleet.ts";
import { planOf } from "./plan.ts";

const STEP = 2000;
const TARGETS = 120;

/** A fleet in the middle of a join, `steps` of two seconds after it began; collectors poll every fourth step. */
function joining(steps: number): Fleet {
  const fleet = new Fleet().run(2);
  fleet.targets = targetsOf(TARGETS);
  fleet.settle();
  fleet.now += 60_000;
  fleet.run(3);
  for (let step = 0; step < steps; step += 1) advance(fleet, step);
  return fleet;
}

function advance(fleet: Fleet, step: number): void {
  fleet.decide();
  if (step % 4 === 3) fleet.poll();
  fleet.now += STEP;
}

/** Every target is served to one or two collectors, at every step until the hand-overs have ended. */
function endsWell(fleet: Fleet): void {
  const counts = new Set<number>();
  for (let step = 0; step < 60; step += 1) {
    advance(fleet, step);
    for (const owners of fleet.served().values()) counts.add(owners.length);
  }
  expect([...counts].filter((count) => count !== 1 && count !== 2)).toEqual([]);
  expect([...fleet.served().values()].filter((owners) => owners.length !== 1)).toEqual([]);
  const loads = [...fleet.loads().values()];
  expect(loads.every((load) => load >= 36 && load <= 44)).toBe(true);
}

const STEPS = Array.from({ length: 16 }, (_, step) => step);

test.each(STEPS)("a leader that is killed at step %i before it records leaves every target served", (step) => {
  const fleet = joining(step);
  planOf(fleet.snapshot());
  // The next leader waits for the lease and knows nothing of polls that were not shared.
  fleet.polls = [];
  fleet.now += 15_000;
  endsWell(fleet);
});

test.each(STEPS)("a leader that is killed at step %i after it recorded leaves every target served", (step) => {
  const fleet = joining(step);
  fleet.decide();
  fleet.polls = [];
  fleet.now += 15_000;
  endsWell(fleet);
});

test.each(STEPS.flatMap((step) => [-600_000, 600_000].map((jump) => [step, jump] as const)))(
  "a clock that jumps at step %i by %i ms ends no hand-over early for good, and stops none",
  (step, jump) => {
    const fleet = joining(step);
    fleet.now += jump;
    fleet.polls = fleet.polls.map((poll) => ({ ...poll, at: Math.min(poll.at, fleet.now) }));
    endsWell(fleet);
  },
);
