import { describe, expect, test } from "@jest/globals";
import { systemClock, termUntil } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";
import { MetricRegistry } from "@evenkeel/metrics";
import { openState } from "@evenkeel/state";
import { NO_MEMORY } from "../decide/snapshot.ts";
import { Memories } from "./memories.ts";

const log = silentLog();
const term = (token: bigint) => termUntil(new AbortController().signal, token);
const memory = { ...NO_MEMORY, desired: 16, changedAt: 1_000 };

async function opened() {
  const state = openState("sqlite::memory:", {
    service: "test",
    clock: systemClock,
    log,
    registry: new MetricRegistry(),
    deadline: 1000,
  });
  await state.start?.({ signal: new AbortController().signal, fail: () => undefined });
  return { state, [Symbol.asyncDispose]: async () => state.stop?.(AbortSignal.timeout(1000)) };
}

describe("memories", () => {
  test("begin with nothing", async () => {
    await using home = await opened();
    expect(await new Memories(home.state, log).recall("uid", {}, term(1n))).toEqual(NO_MEMORY);
  });

  test("outlive the leader: the next one goes on where it was", async () => {
    await using home = await opened();
    const first = new Memories(home.state, log);
    await first.recall("uid", {}, term(1n));
    await first.keep("uid", memory, term(1n));
    expect(await new Memories(home.state, log).recall("uid", {}, term(2n))).toEqual(memory);
  });

  test("of a former leader are not written over those of the next", async () => {
    await using home = await opened();
    const [first, second] = [new Memories(home.state, log), new Memories(home.state, log)];
    await first.recall("uid", {}, term(1n));
    await second.recall("uid", {}, term(2n));
    await second.keep("uid", memory, term(2n));
    await first.keep("uid", { ...memory, desired: 3 }, term(1n));
    expect(await new Memories(home.state, log).recall("uid", {}, term(3n))).toEqual(memory);
  });

  test("are read anew in a new term of the same process, since another may have led meanwhile", async () => {
    await using home = await opened();
    const [mine, other] = [new Memories(home.state, log), new Memories(home.state, log)];
    await mine.keep("uid", { ...memory, desired: 3 }, term(1n));
    await other.recall("uid", {}, term(2n));
    await other.keep("uid", memory, term(2n));
    expect(await mine.recall("uid", {}, term(3n))).toEqual(memory);
  });

  test("that are damaged start anew, and do not stop the loop", async () => {
    await using home = await opened();
    await home.state.records.put("uid", "memory", { desired: "many" }, { expected: "any", fence: "unfenced" });
    expect(await new Memories(home.state, log).recall("uid", {}, term(1n))).toEqual(NO_MEMORY);
  });

  test("go on in this process while the state is away", async () => {
    const home = await opened();
    const memories = new Memories(home.state, log);
    await memories.recall("uid", {}, term(1n));
    await home[Symbol.asyncDispose]();
    await memories.keep("uid", memory, term(1n));
    expect(await memories.recall("uid", {}, term(1n))).toEqual(memory);
  });

  test("outlive the pod: the status has what was last written, and an empty state does not hide it", async () => {
    await using home = await opened();
    const lastWrite = { weight: 208, changedAt: "2026-11-16T12:00:00.000Z", generation: 3 };
    expect(await new Memories(home.state, log).recall("uid", { lastWrite }, term(1n))).toEqual({
      ...{ smoothed: null, raisedAt: null },
      ...{ desired: 208, changedAt: Date.parse(lastWrite.changedAt), yieldedAt: 3, unwritten: [] },
    });
  });

  test.each([
    ["shared state, if the last write of the status failed", 1_000, 2_000, 16],
    ["the status, if shared state was away", 2_000, 1_000, 8],
    ["the status, if both have the same change", 1_000, 1_000, 8],
  ])("are those of the later change: %s", async (_which, inStatus, inState, desired) => {
    await using home = await opened();
    const first = new Memories(home.state, log);
    await first.recall("uid", {}, term(1n));
    await first.keep("uid", { ...memory, changedAt: inState }, term(1n));
    const lastWrite = { weight: 8, changedAt: new Date(inStatus).toISOString() };
    const recalled = await new Memories(home.state, log).recall("uid", { lastWrite }, term(2n));
    expect(recalled).toMatchObject({ desired, changedAt: Math.max(inStatus, inState) });
  });

  test("of a state that could not be read are unknown: what is stored stays, and is used when the state returns", async () => {
    await using home = await opened();
    const average = { value: 2000, at: 1 };
    const before = new Memories(home.state, log);
    await before.recall("uid", {}, term(1n));
    await before.keep("uid", { ...memory, smoothed: average }, term(1n));

    let away = true;
    const { records } = home.state;
    const unreadable = new Error("away");
    const get: typeof records.get = (...about) => (away ? Promise.reject(unreadable) : records.get(...about));
    const raise: typeof records.raise = (...about) => records.raise(...about);
    const put: typeof records.put = (...about) => records.put(...about);
    const forget: typeof home.state.forget = (...about) => home.state.forget(...about);
    const flaky = { records: { ...records, get, raise, put }, forget };
    const after = new Memories(flaky, log);
    const lastWrite = { weight: 16 };
    expect(await after.recall("uid", { lastWrite }, term(2n))).toMatchObject({ desired: 16, smoothed: null });
    await after.keep("uid", { ...memory, desired: 24 }, term(2n));
    away = false;
    expect(await after.recall("uid", { lastWrite }, term(2n))).toMatchObject({ desired: 24, smoothed: average });
  });

  test("of an object that is gone are gone", async () => {
    await using home = await opened();
    const memories = new Memories(home.state, log);
    await memories.recall("uid", {}, term(1n));
    await memories.keep("uid", memory, term(1n));
    await memories.forget("uid", term(1n));
    expect(await new Memories(home.state, log).recall("uid", {}, term(2n))).toEqual(NO_MEMORY);
  });
});
