import { MetricRegistry } from "@evenkeel/metrics";
import { systemClock, termUntil } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";
import { openState, type State, stateErrors } from "@evenkeel/state";
import { expect, test } from "@jest/globals";
import type { Eviction } from "../decide/evictions.ts";
import { Ledger } from "./ledger.ts";

const log = silentLog();
const term = (token: bigint) => termUntil(new AbortController().signal, token);

const eviction = (uid: string): Eviction => ({
  ...{ uid, namespace: "shop", pod: uid, owner: "rs", workload: "deploy", from: "one", policy: "default", at: 1 },
  ...{ expected: [], backOff: 1000, landed: null, replacement: "", lastSeen: 1, wave: 0 },
});

async function opened() {
  const state = openState("sqlite::memory:", {
    ...{ service: "test", clock: systemClock, log, registry: new MetricRegistry(), deadline: 1000 },
  });
  await state.start?.({ signal: new AbortController().signal, fail: () => undefined });
  return { state, [Symbol.asyncDispose]: async () => state.stop?.(AbortSignal.timeout(1000)) };
}

const uidsOf = async (ledger: Ledger, token: bigint) =>
  (await ledger.recall(term(token)))?.record.evictions.map(({ uid }) => uid);

test("what one leader spent the next one finds, and only what was refunded is gone", async () => {
  await using home = await opened();
  const first = new Ledger(home.state, log);
  expect(await first.recall(term(1n))).toMatchObject({ isNew: true });
  await first.spend(eviction("a"), [], term(1n));
  await first.spend(eviction("b"), [], term(1n));
  await first.refund(eviction("b"), term(1n));
  const second = new Ledger(home.state, log);
  expect(await uidsOf(second, 2n)).toEqual(["a"]);
  expect(await second.recall(term(2n))).toMatchObject({ isNew: false });
});

test("a former leader cannot record an eviction, and so cannot make one", async () => {
  await using home = await opened();
  const [former, present] = [new Ledger(home.state, log), new Ledger(home.state, log)];
  await former.recall(term(1n));
  await present.recall(term(2n));
  await expect(former.spend(eviction("late"), [], term(1n))).rejects.toBeInstanceOf(stateErrors.Fenced);
  expect(await uidsOf(present, 2n)).toEqual([]);
});

test("after a write that failed, the record is read again before anything is spent", async () => {
  await using home = await opened();
  const ledger = new Ledger(home.state, log);
  await ledger.recall(term(1n));
  await home.state.records.put("evictions", "ledger", { damaged: true }, { expected: "any", fence: "unfenced" });
  await expect(ledger.spend(eviction("a"), [], term(1n))).rejects.toBeInstanceOf(stateErrors.Conflict);
  await expect(ledger.spend(eviction("a"), [], term(1n))).rejects.toThrow("not known");
  // What is damaged counts as away: nothing is evicted on a guess.
  expect(await ledger.recall(term(1n))).toBeNull();
});

test("a record that is gone is noticed when it is asked for, not when it is changed", async () => {
  await using home = await opened();
  const ledger = new Ledger(home.state, log);
  await ledger.recall(term(1n));
  await ledger.spend(eviction("a"), [], term(1n));
  expect(await ledger.recall(term(1n))).toMatchObject({ isNew: false });
  await home.state.records.delete("evictions", "ledger", { expected: "any", fence: "unfenced" });
  expect(await ledger.recall(term(1n))).toMatchObject({ isNew: true });
});

test("while the state is away nothing is known", async () => {
  const away = { available: false } as unknown as State;
  expect(await new Ledger(away, log).recall(term(1n))).toBeNull();
});
