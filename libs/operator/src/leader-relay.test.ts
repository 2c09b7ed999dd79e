import { MetricRegistry } from "@evenkeel/metrics";
import { systemClock, termUntil } from "@evenkeel/runtime";
import { FakeClock, FakeHost } from "@evenkeel/runtime/testing";
import { openState, type State } from "@evenkeel/state";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { LeaderRelay } from "./leader-relay.ts";

const host = new FakeHost();
const stopping = new AbortController();
let state: State;
let clock: FakeClock;
let ends: (() => void)[];

beforeEach(async () => {
  clock = new FakeClock();
  ends = [];
  const common = { clock: systemClock, log: host.log(), registry: new MetricRegistry() };
  state = openState("sqlite::memory:", { ...common, service: "sample", deadline: 1000 });
  await state.start?.({ signal: stopping.signal, fail: () => undefined });
});
afterEach(async () => {
  for (const end of ends) end();
  await state.stop?.(AbortSignal.timeout(1000));
});

/** A replica that answers with its name and what it was asked. */
function replica(instance: string, name = "drains") {
  const relay = new LeaderRelay({ name, state, instance, clock, log: host.log() });
  relay.answerBy((method, request) => Buffer.from(`${instance}: ${method} ${String(Buffer.from(request))}`));
  relay.start();
  ends.push(() => relay.stop());
  const ask = async (text: string) => {
    const answer = await relay.ask("Prepare", Buffer.from(text));
    return answer && String(Buffer.from(answer));
  };
  return { relay, ask };
}

function lead(relay: LeaderRelay, held: () => boolean = () => true) {
  const term = new AbortController();
  const over = relay.lead(termUntil(term.signal, 1n, held));
  return { end: () => (term.abort(), over) };
}

/** What a question that nobody answers gives: its edges have been delivered, and its deadline is over. */
async function afterDeadline<T>(answer: Promise<T>): Promise<T> {
  const delivered = () =>
    new Promise<void>((resolve, reject) => {
      ends.push(state.edges.subscribe("barrier", "test", ({ kind }) => kind === "edge" && resolve()));
      state.edges.publish("barrier", "test", "").catch(reject);
    });
  await delivered();
  await delivered();
  await clock.advance(2000);
  return answer;
}

test("the leader answers what another replica is asked", async () => {
  const [one, other] = [replica("one"), replica("other")];
  lead(one.relay);
  expect([one.relay.leads, other.relay.leads]).toEqual([true, false]);
  expect(await other.ask("pod-0")).toBe("one: Prepare pod-0");
});

test("answers reach the calls that they are for", async () => {
  const [one, two, leader] = [replica("one"), replica("two"), replica("leader")];
  lead(leader.relay);
  const asked = ["a", "b", "c"].flatMap((text) => [one.ask(text), two.ask(text)]);
  expect(await Promise.all(asked)).toEqual(["a", "a", "b", "b", "c", "c"].map((text) => `leader: Prepare ${text}`));
});

test("nobody answers without a leader, after its term, and once the lease has run out by the clock", async () => {
  const [one, other] = [replica("one"), replica("other")];
  expect(await afterDeadline(other.ask("early"))).toBeUndefined();
  const first = lead(one.relay);
  expect(await other.ask("now")).toBe("one: Prepare now");
  await first.end();
  expect(one.relay.leads).toBe(false);
  expect(await afterDeadline(other.ask("late"))).toBeUndefined();
  let held = true;
  lead(one.relay, () => held);
  held = false;
  expect(await afterDeadline(other.ask("frozen"))).toBeUndefined();
});

test("relays of different names do not meet", async () => {
  const [leader, other] = [replica("one", "drains"), replica("other", "wakes")];
  lead(leader.relay);
  expect(await afterDeadline(other.ask("pod-0"))).toBeUndefined();
});

test("a call that the leader cannot answer ends at the deadline, and the next one is answered", async () => {
  const [leader, other] = [replica("one"), replica("other")];
  lead(leader.relay);
  leader.relay.answerBy((_method, request) => {
    if (String(Buffer.from(request)) === "bad") throw new Error("it cannot be read");
    return request;
  });
  expect(await afterDeadline(other.ask("bad"))).toBeUndefined();
  expect(await other.ask("good")).toBe("good");
});

test("what still waits ends with its replica", async () => {
  const other = replica("other");
  const answer = other.ask("pod-0");
  other.relay.stop();
  expect(await answer).toBeUndefined();
});
