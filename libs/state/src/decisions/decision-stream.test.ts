import { expect, test } from "@jest/globals";
import { MetricRegistry } from "@evenkeel/metrics";
import { type Decision, DecisionRing, type DecisionSource } from "@evenkeel/runtime";
import { FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { DecisionStream } from "./decision-stream.ts";
import { openState } from "../open-state.ts";

const RUNNING = { signal: new AbortController().signal, fail: () => undefined };

/** A state that is away until it is started. */
function given(capacity: number, whileAway?: Pick<DecisionSource, "list">) {
  const clock = new FakeClock();
  const registry = new MetricRegistry();
  const log = silentLog();
  const state = openState("sqlite::memory:", { service: "s", clock, log, registry, deadline: 1000 });
  const stream = new DecisionStream({ state, clock, log, registry, capacity, ...(whileAway ? { whileAway } : {}) });
  return { clock, registry, state, stream };
}

function decisionOf(id: number): Decision {
  const object = { kind: "Rebalance", namespace: "shop", name: "checkout" };
  const at = "2026-01-01T00:00:00Z";
  return {
    id: String(id),
    at,
    object,
    action: "hold",
    reason: "NoData",
    before: 1,
    after: 1,
    message: "",
    dryRun: false,
  };
}

test("decisions wait while the state is away, and arrive in order once it is back", async () => {
  const { clock, state, stream } = given(10);
  for (const id of [1, 2, 3]) stream.record(decisionOf(id));
  await clock.advance(60_000);
  await state.start?.(RUNNING);
  await stream.stop(RUNNING.signal);
  expect((await stream.list({}, 10)).map(({ id }) => id)).toEqual(["3", "2", "1"]);
});

test("while the state is away the oldest decisions are dropped and counted, so that memory is bounded", async () => {
  const { clock, registry, state, stream } = given(10);
  for (let id = 0; id < 10_000; id++) stream.record(decisionOf(id));
  expect(await registry.text()).toContain("evenkeel_state_dropped_decisions_total 9990\n");
  await clock.advance(1000);
  await state.start?.(RUNNING);
  await stream.stop(RUNNING.signal);
  expect((await stream.list({}, 100)).map(({ id }) => id)).toEqual([
    "9999",
    "9998",
    "9997",
    "9996",
    "9995",
    "9994",
    "9993",
    "9992",
    "9991",
    "9990",
  ]);
});

test("a stop does not wait for a state that is away", async () => {
  const { clock, stream } = given(10);
  stream.record(decisionOf(1));
  await clock.advance(0);
  await stream.stop(RUNNING.signal);
  expect(clock.pending).toBe(0);
});

test("recording neither throws nor waits, whatever the decision holds", async () => {
  const { registry, state, stream } = given(10);
  await state.start?.(RUNNING);
  stream.record({ ...decisionOf(1), before: 1n });
  stream.record({ ...decisionOf(2), message: "x".repeat(2_000_000) });
  stream.record(decisionOf(3));
  await stream.stop(RUNNING.signal);
  expect((await stream.list({}, 10)).map(({ id }) => id)).toEqual(["3"]);
  expect(await registry.text()).toContain("evenkeel_state_dropped_decisions_total 2\n");
});

test("a list fails when the state is away, rather than showing no decisions", async () => {
  await expect(given(10).stream.list({}, 10)).rejects.toMatchObject({ code: "EK_STATE_UNAVAILABLE" });
});

test("a list answers from this process's own decisions while the state is away, and from all replicas' once it is back", async () => {
  const own = new DecisionRing();
  own.record(decisionOf(1));
  const { state, stream } = given(10, own);
  expect((await stream.list({}, 10)).map(({ id }) => id)).toEqual(["1"]);
  await state.start?.(RUNNING);
  expect(await stream.list({}, 10)).toEqual([]);
});
