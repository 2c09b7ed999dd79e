import { FakeClock } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { Reachability } from "./reachability.ts";

test("refusals start one timer for any number of requests, and stopping clears it", () => {
  const clock = new FakeClock();
  const reach = new Reachability(clock, "127.0.0.1", 1, () => undefined);
  expect(reach.isRefusing).toBe(false);
  for (let index = 0; index < 5000; index++) reach.refused();
  expect(reach.isRefusing).toBe(true);
  expect(clock.pending).toBe(1);
  reach.stop();
  expect(reach.isRefusing).toBe(false);
  expect(clock.pending).toBe(0);
});
