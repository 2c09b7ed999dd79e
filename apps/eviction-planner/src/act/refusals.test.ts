import { FakeClock } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { Refusals } from "./refusals.ts";

test("a pod that was refused is left alone for a time that doubles with each refusal, up to an hour", async () => {
  const clock = new FakeClock();
  const refusals = new Refusals({ clock, first: 1000 });
  const seconds = [];
  for (let round = 0; round < 14; round += 1) {
    refusals.add("one", "PeerRefused");
    expect(refusals.current()).toEqual([{ pod: "one", by: "PeerRefused" }]);
    const length = Math.min(2 ** round, 3600);
    await clock.advance(length * 1000 - 1);
    expect(refusals.current()).toHaveLength(1);
    await clock.advance(1);
    expect(refusals.current()).toEqual([]);
    seconds.push(length);
  }
  expect(seconds.at(-1)).toBe(3600);
});

test("a refusal is forgotten an hour after it ended", async () => {
  const clock = new FakeClock();
  const refusals = new Refusals({ clock, first: 1000 });
  refusals.add("one", "PeerRefused");
  await clock.advance(3_601_000);
  expect(refusals.current()).toEqual([]);
  refusals.add("one", "PeerRefused");
  await clock.advance(1000);
  expect(refusals.current()).toEqual([]);
});
