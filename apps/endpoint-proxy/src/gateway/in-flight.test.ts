import { expect, test } from "@jest/globals";
import { InFlight } from "./in-flight.ts";

test("reads and writes are bounded apart, and a slot is given back once", () => {
  const inFlight = new InFlight({ reads: 1, writes: 1, bytes: 0 });
  const leave = inFlight.enter("GET");
  expect(inFlight.enter("HEAD")).toBeUndefined();
  expect(inFlight.enter("PATCH")).toBeDefined();
  expect(inFlight.enter("DELETE")).toBeUndefined();
  leave?.();
  leave?.();
  expect([inFlight.reads, inFlight.writes]).toEqual([0, 1]);
});

test("bytes of bodies are bounded, and given back once", () => {
  const inFlight = new InFlight({ reads: 1, writes: 1, bytes: 10 });
  const leave = inFlight.hold(6);
  expect(inFlight.hold(5)).toBeUndefined();
  expect(inFlight.hold(4)).toBeDefined();
  leave?.();
  leave?.();
  expect(inFlight.bytes).toBe(4);
});
