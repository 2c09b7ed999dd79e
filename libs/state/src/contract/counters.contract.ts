import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Replicas } from "./replicas.ts";

const LONG = 60_000;
const SHORT = 50;

export function countersContract(given: () => Replicas): void {
  test("counts add up over replicas", async () => {
    const { one, other } = given();
    const object = randomUUID();
    await one.counters.report(object, "a", { held: 3, open: 1 }, LONG);
    await other.counters.report(object, "b", { held: 4 }, LONG);
    expect(await one.counters.sum(object)).toEqual({ held: 7, open: 1 });
    expect(await other.counters.read(object)).toEqual(
      new Map([
        ["a", { held: 3, open: 1 }],
        ["b", { held: 4 }],
      ]),
    );
  });

  test("a count without a report is absent, not zero", async () => {
    expect(await given().one.counters.sum(randomUUID())).toEqual({});
  });

  test("a report replaces the one before, so that repeating it does no harm", async () => {
    const { counters } = given().one;
    const object = randomUUID();
    await counters.report(object, "a", { held: 3, open: 1 }, LONG);
    await counters.report(object, "a", { held: 2 }, LONG);
    await counters.report(object, "a", { held: 2 }, LONG);
    expect(await counters.sum(object)).toEqual({ held: 2 });
  });

  test("the counts of a replica that falls silent drop, those of others stay", async () => {
    const { one, other, elapse } = given();
    const object = randomUUID();
    await one.counters.report(object, "dead", { held: 100 }, SHORT);
    await other.counters.report(object, "alive", { held: 1 }, LONG);
    await elapse(SHORT);
    expect(await other.counters.sum(object)).toEqual({ held: 1 });
    expect([...(await other.counters.read(object)).keys()]).toEqual(["alive"]);
  });

  test("a heartbeat keeps counts alive beyond their first time", async () => {
    const { one, elapse } = given();
    const object = randomUUID();
    await one.counters.report(object, "a", { held: 1 }, SHORT);
    await one.counters.report(object, "a", { held: 1 }, LONG);
    await elapse(SHORT);
    expect(await one.counters.sum(object)).toEqual({ held: 1 });
  });

  test("a shorter heartbeat of one replica does not end another's counts", async () => {
    const { one, elapse } = given();
    const object = randomUUID();
    await one.counters.report(object, "a", { held: 1 }, LONG);
    await one.counters.report(object, "b", { held: 1 }, SHORT);
    await elapse(SHORT);
    expect(await one.counters.sum(object)).toEqual({ held: 1 });
  });

  test("a replica that was dead comes back with its next report", async () => {
    const { one, elapse } = given();
    const object = randomUUID();
    await one.counters.report(object, "a", { held: 1 }, SHORT);
    await elapse(SHORT);
    expect(await one.counters.sum(object)).toEqual({});
    await one.counters.report(object, "a", { held: 2 }, LONG);
    expect(await one.counters.sum(object)).toEqual({ held: 2 });
  });

  test("a replica that leaves withdraws its counts at once", async () => {
    const { one, other } = given();
    const object = randomUUID();
    await one.counters.report(object, "a", { held: 1 }, LONG);
    await one.counters.report(object, "b", { held: 2 }, LONG);
    await one.counters.withdraw(object, "a");
    await one.counters.withdraw(object, "never-there");
    expect(await other.counters.sum(object)).toEqual({ held: 2 });
  });

  test.each([NaN, Infinity])("%p is no count", async (count) => {
    const report = given().one.counters.report(randomUUID(), "a", { held: count }, LONG);
    await expect(report).rejects.toMatchObject({ code: "EK_STATE_BAD_ARGUMENT" });
  });

  test.each([0, -1, 1.5, NaN, 86_400_001])("%p ms is no time to live", async (ttl) => {
    const report = given().one.counters.report(randomUUID(), "a", {}, ttl);
    await expect(report).rejects.toMatchObject({ code: "EK_STATE_BAD_ARGUMENT" });
  });
}
