import { FakeClock } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import type { TriggerReading } from "../../decide/snapshot.ts";
import { BUSY, checkout, IDLE } from "../../testing/quiet-service.ts";
import { type ReadBinding, Readings } from "./readings.ts";

/** Readings of metric servers that answer when they are told to. */
function world() {
  const clock = new FakeClock();
  const answers: ((...readings: readonly TriggerReading[]) => Promise<void>)[] = [];
  const arrived: string[] = [];
  const read = () =>
    new Promise<readonly TriggerReading[]>((resolve) =>
      answers.push(async (...readings) => {
        resolve(readings);
        await new Promise(setImmediate);
      }),
    );
  const readings = new Readings({ clock, read, arrived: ({ name }) => arrived.push(name) });
  return { clock, answers, arrived, readings };
}

const edited: ReadBinding = { ...checkout, generation: checkout.generation + 1 };

describe("readings of triggers", () => {
  test("are returned at once where the answers are known", async () => {
    const arrived: string[] = [];
    const read = () => Promise.resolve([IDLE]);
    const readings = new Readings({ clock: new FakeClock(), read, arrived: ({ name }) => arrived.push(name) });
    expect(await readings.read(checkout)).toEqual([IDLE]);
    expect(await readings.read(checkout)).toEqual([IDLE]);
    expect([arrived, readings.kept]).toEqual([[], 0]);
  });

  test("are not waited for, and are there once they have arrived", async () => {
    const { answers, arrived, readings } = world();
    expect(await readings.read(checkout)).toBeUndefined();
    expect(await readings.read(checkout)).toBeUndefined();
    expect([answers.length, arrived]).toEqual([1, []]);
    await answers[0]?.(BUSY);
    expect(arrived).toEqual([checkout.name]);
    expect(await readings.read(checkout)).toEqual([BUSY]);
    expect(readings.kept).toBe(0);
  });

  test("are of one reconcile: the next reads again", async () => {
    const { answers, readings } = world();
    await readings.read(checkout);
    await answers[0]?.(IDLE);
    await readings.read(checkout);
    expect(await readings.read(checkout)).toBeUndefined();
    expect(answers).toHaveLength(2);
  });

  test("of a spec that has been edited meanwhile are not used", async () => {
    const { answers, arrived, readings } = world();
    await readings.read(checkout);
    expect(await readings.read(edited)).toBeUndefined();
    await answers[0]?.(IDLE);
    expect(arrived).toEqual([]);
    expect(await readings.read(edited)).toBeUndefined();
    await answers[1]?.(BUSY);
    expect(await readings.read(edited)).toEqual([BUSY]);
  });

  test("are dropped after five seconds, because the service may have changed", async () => {
    const { clock, answers, readings } = world();
    await readings.read(checkout);
    await answers[0]?.(IDLE);
    await clock.advance(5000);
    expect(await readings.read({ ...checkout, uid: "another" })).toBeUndefined();
    expect(readings.kept).toBe(1);
    expect(await readings.read(checkout)).toBeUndefined();
    expect(answers).toHaveLength(3);
  });
});
