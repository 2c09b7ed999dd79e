import { MetricRegistry } from "@evenkeel/metrics";
import { systemClock, termUntil } from "@evenkeel/runtime";
import { eventually, FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { openState, type State, stateErrors } from "@evenkeel/state";
import { expect, test } from "@jest/globals";
import { type Assignments, type Exception, NO_ASSIGNMENTS } from "../decide/assignments.ts";
import { AssignmentRecords } from "./assignment-records.ts";

const log = silentLog();
const clock = systemClock;
const object = "uid-1";
const term = (token: bigint) => termUntil(new AbortController().signal, token);

async function opened() {
  const state = openState("sqlite::memory:", {
    ...{ service: "test", clock: systemClock, log, registry: new MetricRegistry(), deadline: 5000 },
  });
  await state.start?.({ signal: new AbortController().signal, fail: () => undefined });
  return { state, [Symbol.asyncDispose]: async () => state.stop?.(AbortSignal.timeout(1000)) };
}

/** The names of all records that a write put. */
function counting(state: State): { state: State; puts: string[] } {
  const puts: string[] = [];
  const records = {
    list: (name: string) => state.records.list(name),
    raise: (...call: Parameters<State["records"]["raise"]>) => state.records.raise(...call),
    delete: (...call: Parameters<State["records"]["delete"]>) => state.records.delete(...call),
    put: (...call: Parameters<State["records"]["put"]>) => {
      puts.push(call[1]);
      return state.records.put(...call);
    },
  };
  return { state: { available: true, records, edges: state.edges } as unknown as State, puts };
}

const exceptions = (count: number, owner = "collector-0"): Map<string, Exception> =>
  new Map(
    Array.from({ length: count }, (_, index) => [
      `prometheus/app http://10.0.0.1:${index}/metrics`,
      { owner, since: 1 },
    ]),
  );

const assignments = (changes: Partial<Assignments>): Assignments => ({
  ...NO_ASSIGNMENTS,
  ...{
    at: 1,
    members: [
      { name: "collector-0", zone: "a" },
      { name: "collector-1", leaving: true },
    ],
  },
  ...changes,
});

test("what one leader recorded the next one finds", async () => {
  await using home = await opened();
  const first = new AssignmentRecords({ object, state: home.state, clock, log });
  expect(await first.recall(term(1n))).toEqual(NO_ASSIGNMENTS);
  const kept = assignments({ exceptions: exceptions(2000) });
  await first.keep(kept, term(1n));
  expect(await first.recall(term(1n))).toBe(kept);
  expect(await new AssignmentRecords({ object, state: home.state, clock, log }).recall(term(2n))).toEqual(kept);
});

test("4,000 exceptions with long keys fit, and a change of one writes its bucket and the head alone", async () => {
  await using home = await opened();
  const { state, puts } = counting(home.state);
  const records = new AssignmentRecords({ object, state, clock, log });
  await records.recall(term(1n));
  const all = new Map([...exceptions(4_000)].map(([key, value]) => [`${key}${"?".padEnd(400, "x")}`, value]));
  const [one = ""] = all.keys();
  await records.keep(assignments({ exceptions: all }), term(1n));
  const size = Math.max(...(await home.state.records.list(object)).map(({ value }) => JSON.stringify(value).length));
  expect(size).toBeLessThan(2 ** 19);
  puts.length = 0;
  const changed = new Map(all).set(one, { owner: "collector-1", since: 2 });
  await records.keep(assignments({ at: 2, exceptions: changed }), term(1n));
  expect(puts).toHaveLength(2);
  expect(puts.at(-1)).toBe("assignments");
  const found = await new AssignmentRecords({ object, state: home.state, clock, log }).recall(term(2n));
  expect(found?.exceptions.size).toBe(4_000);
  expect(found?.exceptions.get(one)).toEqual({ owner: "collector-1", since: 2 });
});

test("a former leader can record nothing", async () => {
  await using home = await opened();
  const [former, present] = [1, 2].map(() => new AssignmentRecords({ object, state: home.state, clock, log })) as [
    AssignmentRecords,
    AssignmentRecords,
  ];
  await former.recall(term(1n));
  await present.recall(term(2n));
  await expect(former.keep(assignments({}), term(1n))).rejects.toBeInstanceOf(stateErrors.Fenced);
  expect(await present.recall(term(2n))).toEqual(NO_ASSIGNMENTS);
});

test("a leader that dies before it writes the head has changed nothing, and its buckets are dropped", async () => {
  await using home = await opened();
  const before = assignments({ exceptions: exceptions(10) });
  const first = new AssignmentRecords({ object, state: home.state, clock, log });
  await first.recall(term(1n));
  await first.keep(before, term(1n));
  const torn = [["key", { owner: "collector-9", since: 9 }]];
  await home.state.records.put(object, "exceptions:3:9", torn, { expected: "any", fence: "unfenced" });
  const next = new AssignmentRecords({ object, state: home.state, clock, log });
  expect(await next.recall(term(2n))).toEqual(before);
  expect((await home.state.records.list(object)).map(({ name }) => name)).not.toContain("exceptions:3:9");
});

test("another replica notices a change and serves by it", async () => {
  await using home = await opened();
  const [leader, follower] = [1, 2].map(() => new AssignmentRecords({ object, state: home.state, clock, log })) as [
    AssignmentRecords,
    AssignmentRecords,
  ];
  const seen: number[] = [];
  const stop = follower.follow(({ at }) => void seen.push(at));
  await eventually(() => expect(follower.current).toEqual(NO_ASSIGNMENTS));
  await leader.recall(term(1n));
  await leader.keep(assignments({ at: 5, exceptions: exceptions(3) }), term(1n));
  await eventually(() => expect(follower.current).toMatchObject({ at: 5, exceptions: exceptions(3) }));
  stop();
  expect(seen).toEqual([0, 5]);
});

test("while the state is away the leader knows nothing, and a damaged record counts as away", async () => {
  const away = { available: false } as unknown as State;
  expect(await new AssignmentRecords({ object, state: away, clock, log }).recall(term(1n))).toBeNull();
  await using home = await opened();
  await home.state.records.put(object, "assignments", { members: 1 }, { expected: "any", fence: "unfenced" });
  expect(await new AssignmentRecords({ object, state: home.state, clock, log }).recall(term(1n))).toBeNull();
});

/** A state in which no replica hears of what another one publishes, and a publish fails. */
const withoutEdges = (state: State): State =>
  ({
    ...{ available: true, records: state.records },
    edges: {
      publish: () => Promise.reject(new Error("away")),
      subscribe: () => () => undefined,
    },
  }) as unknown as State;

test("a decision whose edge is lost is in force, and other replicas find it within 10 s", async () => {
  await using home = await opened();
  const state = withoutEdges(home.state);
  const time = new FakeClock(0);
  const leader = new AssignmentRecords({ object, state, clock: time, log });
  const follower = new AssignmentRecords({ object, state, clock: time, log });
  const seen: number[] = [];
  const stop = follower.follow(({ at }) => void seen.push(at));
  await leader.recall(term(1n));
  const kept = assignments({ at: 5 });
  await leader.keep(kept, term(1n));
  expect(await leader.recall(term(1n))).toBe(kept);
  await time.advance(10_000);
  await eventually(() => expect(seen).toEqual([5]));
  await leader.keep(assignments({ at: 6 }), term(1n));
  await time.advance(10_000);
  await eventually(() => expect(seen).toEqual([5, 6]));
  stop();
  expect(time.pending).toBe(0);
});

test("a leader under which the state is emptied records again what it knows", async () => {
  await using home = await opened();
  const time = new FakeClock(0);
  const leader = new AssignmentRecords({ object, state: home.state, clock: time, log });
  const stop = leader.follow(() => undefined);
  await leader.recall(term(1n));
  const kept = assignments({ at: 5, exceptions: exceptions(20) });
  await leader.keep(kept, term(1n));
  const stored = async () => (await home.state.records.list(object)).map(({ name }) => name);
  const empty = async () => {
    const terms = { expected: "any", fence: "unfenced" } as const;
    for (const name of await stored()) await home.state.records.delete(object, name, terms);
  };

  await empty();
  await expect(leader.keep(assignments({ at: 6 }), term(1n))).rejects.toBeInstanceOf(stateErrors.Conflict);
  expect(await leader.recall(term(1n))).toEqual(kept);
  expect(await stored()).toContain("assignments");

  // Also if there is nothing to decide.
  await empty();
  await time.advance(10_000);
  await eventually(async () => {
    expect(await leader.recall(term(1n))).toEqual(kept);
    expect(await stored()).toContain("assignments");
  });
  expect(await new AssignmentRecords({ object, state: home.state, clock, log }).recall(term(2n))).toEqual(kept);
  stop();
});
