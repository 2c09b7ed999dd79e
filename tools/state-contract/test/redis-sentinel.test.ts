import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "@jest/globals";
import type { CodedError } from "@evenkeel/runtime";
import type { Fence, Notice, State } from "@evenkeel/state";
import { eventually } from "@evenkeel/runtime/testing";
import { describeRedis, openedState, SentinelSet } from "../src/index.ts";

const DEADLINE = 1000;
/** Sentinels need a second to call a master dead, some more to agree, and the machine is shared. */
const FAIL_OVER = 30_000;

const leader = (token: bigint): Fence => ({ scope: "leader", token });
const as = (token: bigint) => ({ expected: "any", fence: leader(token) }) as const;

describeRedis("a Sentinel fail-over", () => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function given() {
    const set = await SentinelSet.start();
    ends.push(() => set.end());
    const opened = await openedState(set.address, { deadline: DEADLINE });
    ends.push(() => opened.close());
    return { set, ...opened };
  }

  /** Kills the master and resolves when the state answers from another. */
  async function failOver(set: SentinelSet, state: State): Promise<void> {
    const old = await set.master();
    await old.kill();
    await eventually(async () => (await set.master()).port !== old.port, FAIL_OVER);
    await eventually(() => writable(state), FAIL_OVER);
  }

  test("a lower token is still refused when the higher one was replicated, and subscribers resume", async () => {
    const { set, state } = await given();
    const object = randomUUID();
    const notices: Notice[] = [];
    state.edges.subscribe(object, "wake", (notice) => notices.push(notice));
    await eventually(() => notices.length === 1, 5000);
    const version = await state.records.put(object, "assignment", "by the leader of term 7", as(7n));
    await replicated(set, object);

    await failOver(set, state);

    const late = state.records.put(object, "assignment", "by the leader of term 6", as(6n));
    await expect(late).rejects.toMatchObject({ code: "EK_STATE_FENCED" });
    expect(await state.records.get(object, "assignment")).toMatchObject({ value: "by the leader of term 7", version });
    await eventually(() => notices.filter(({ kind }) => kind === "gap").length >= 2, FAIL_OVER);
    await eventually(async () => {
      await state.edges.publish(object, "wake", "after");
      return notices.some(({ kind }) => kind === "edge");
    }, FAIL_OVER);
  }, 90_000);

  test("no call hangs beyond its deadline during the fail-over, and writes go on after it", async () => {
    const { set, state } = await given();
    const object = randomUUID();
    const master = await set.master();
    const slowest = { milliseconds: 0 };
    const codes = new Set<string>();
    let accepted = 0;
    const ending = new AbortController();
    const over = () => ending.signal.aborted;
    const writing = (async () => {
      for (let index = 0; !over(); index++) {
        const started = performance.now();
        try {
          await state.records.put(object, "count", index, as(1n));
          accepted++;
        } catch (error) {
          codes.add((error as CodedError).code);
          // At once is how it fails; a moment's rest lets the rest of the test run.
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        slowest.milliseconds = Math.max(slowest.milliseconds, performance.now() - started);
      }
    })();
    await eventually(() => accepted > 10, 5000);
    master.hang();
    await eventually(async () => (await set.master()).port !== master.port, FAIL_OVER);
    const before = accepted;
    await eventually(() => accepted > before + 10, FAIL_OVER);
    ending.abort();
    await writing;
    expect(slowest.milliseconds).toBeLessThan(DEADLINE + 1500);
    for (const code of codes) expect(["EK_STATE_UNAVAILABLE", "EK_STATE_NO_ANSWER"]).toContain(code);
    master.goOn();
  }, 90_000);

  test("a write and a token that were lost come back from the leader, which derives them afresh", async () => {
    const { set, state } = await given();
    const object = randomUUID();
    const first = await state.records.put(object, "assignment", { shop: "a" }, as(6n));
    await replicated(set, object);

    // Cut off from its replicas, the master acknowledges what they will never see.
    for (const replica of set.servers.slice(1)) replica.hang();
    await (await set.master()).ask((client) => client.call("CLIENT", "KILL", "TYPE", "replica"));
    const lost = await state.records.put(object, "assignment", { shop: "b" }, { expected: first, fence: leader(7n) });
    await (await set.master()).kill();
    for (const replica of set.servers.slice(1)) replica.goOn();
    await eventually(() => writable(state), FAIL_OVER);

    // The promoted replica knows neither the write nor the token: until the leader comes, the former one is let in.
    expect(await state.records.get(object, "assignment")).toMatchObject({ value: { shop: "a" }, version: first });
    await state.records.raise(object, leader(6n));
    // The lost version is nobody's, so a leader that goes on from memory finds out.
    const onward = state.records.put(object, "assignment", { shop: "c" }, { expected: lost, fence: leader(7n) });
    await expect(onward).rejects.toMatchObject({ code: "EK_STATE_CONFLICT" });
    // That very call has made its token seen again.
    const late = state.records.put(object, "assignment", { shop: "z" }, as(6n));
    await expect(late).rejects.toMatchObject({ code: "EK_STATE_FENCED" });
    // It reads, decides on what the outside world says, and writes.
    const current = await state.records.get(object, "assignment");
    const terms = { expected: current?.version ?? "absent", fence: leader(7n) } as const;
    await state.records.put(object, "assignment", { shop: "b" }, terms);
    expect((await state.records.get(object, "assignment"))?.value).toEqual({ shop: "b" });
  }, 90_000);
});

async function writable(state: State): Promise<boolean> {
  await state.records.put("probe", "probe", 1, { expected: "any", fence: "unfenced" });
  return true;
}

/** Resolves when both replicas have all that the master has of the object. */
async function replicated(set: SentinelSet, object: string): Promise<void> {
  const key = `evenkeel:contract:{${object}}:records`;
  const master = await set.master();
  const text = await master.ask((client) => client.hget(key, "assignment"));
  for (const server of set.servers) {
    await eventually(() => server.ask(async (client) => (await client.hget(key, "assignment")) === text), 10_000);
  }
}
