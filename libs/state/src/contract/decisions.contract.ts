import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { MetricRegistry } from "@evenkeel/metrics";
import { type Decision, systemClock } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";
import { DecisionStream } from "../decisions/decision-stream.ts";
import type { Replicas } from "./replicas.ts";
import type { State } from "../state.ts";

export function decisionsContract(given: () => Replicas): void {
  test("another replica lists decisions, the newest first, by filter and limit", async () => {
    const { one, other } = given();
    const kind = randomUUID();
    const [writer, reader] = [streamOf(one), streamOf(other)];
    for (const name of ["a", "b", "a"]) writer.record(decisionOf(kind, name));
    await flushed(writer);
    const all = await reader.list({}, 3);
    expect(all.map(({ object }) => object.name)).toEqual(["a", "b", "a"]);
    expect(await reader.list({ object: `${kind}/shop/b` }, 10)).toHaveLength(1);
    expect(await reader.list({ object: `${kind}/shop/a` }, 1)).toEqual([all[0]]);
    expect(await reader.list({ object: `${kind}/shop/a`, reason: "Other" }, 10)).toEqual([]);
  });

  test("a watch gives the decisions that come after it, by filter", async () => {
    const { one, other } = given();
    const kind = randomUUID();
    const [writer, reader] = [streamOf(one), streamOf(other)];
    writer.record(decisionOf(kind, "b"));
    await flushed(writer);
    const ending = new AbortController();
    const watch = reader.watch({ object: `${kind}/shop/b` }, ending.signal)[Symbol.asyncIterator]();
    // The watch begins with an answer of the store; only then is "after" well defined from another replica.
    await reader.list({}, 1);
    writer.record(decisionOf(kind, "a"));
    const expected = decisionOf(kind, "b");
    writer.record(expected);
    expect(await watch.next()).toEqual({ done: false, value: expected });
    ending.abort();
    expect(await watch.next()).toMatchObject({ done: true });
  });

  test("a decision that was appended twice is listed once", async () => {
    const { one } = given();
    const stream = streamOf(one);
    const twice = decisionOf(randomUUID(), "a");
    stream.record(twice);
    stream.record(twice);
    await flushed(stream);
    expect((await stream.list({}, 1000)).filter(({ id }) => id === twice.id)).toHaveLength(1);
  });

  test.each(["no json", "null", "{}", '{"id":"x","object":null}', '{"id":1}'])(
    "an entry that is no decision (%s) is left out and counted",
    async (text) => {
      const { one } = given();
      const registry = new MetricRegistry();
      const stream = streamOf(one, { registry });
      const decision = decisionOf(randomUUID(), "a");
      await one.streams.append("service", "decisions", text, 1000);
      stream.record(decision);
      await flushed(stream);
      await one.streams.append("service", "decisions", text, 1000);
      expect(await stream.list({}, 1)).toEqual([decision]);
      expect(await registry.text()).toContain("evenkeel_state_unreadable_decisions_total 1\n");
    },
  );

  test("the stream keeps as many as it is told to", async () => {
    const { one } = given();
    const stream = streamOf(one, { capacity: 5 });
    const kind = randomUUID();
    for (let index = 0; index < 5; index++) stream.record(decisionOf(kind, String(index)));
    await flushed(stream);
    stream.record(decisionOf(kind, "last"));
    await flushed(stream);
    const kept = await one.streams.newest("service", "decisions", 100);
    expect(kept).toHaveLength(5);
    expect(kept[0]?.text).toContain('"last"');
  });

  test("a reader that falls behind is ended with an error", async () => {
    const { one } = given();
    const stream = streamOf(one, { capacity: 3 });
    stream.record(decisionOf("Kind", "before"));
    await flushed(stream);
    const ending = new AbortController();
    const watch = stream.watch({}, ending.signal)[Symbol.asyncIterator]();
    stream.record(decisionOf("Kind", "read"));
    await watch.next();
    for (let index = 0; index < 10; index++) stream.record(decisionOf("Kind", String(index)));
    await flushed(stream);
    const reading = (async () => {
      for (let next = await watch.next(); !next.done; next = await watch.next());
    })();
    // Whatever the reader had fetched already comes first; then the cut shows.
    await expect(reading).rejects.toMatchObject({ code: "EK_RUNTIME_WATCHER_TOO_SLOW" });
  });
}

const quiet = silentLog();

function streamOf(
  state: State,
  options: { readonly registry?: MetricRegistry; readonly capacity?: number } = {},
): DecisionStream {
  return new DecisionStream({ state, clock: systemClock, log: quiet, registry: new MetricRegistry(), ...options });
}

/** Resolves when all that was recorded has arrived. */
function flushed(stream: DecisionStream): Promise<void> {
  return stream.stop(new AbortController().signal);
}

function decisionOf(kind: string, name: string): Decision {
  return {
    id: randomUUID(),
    at: "2026-01-01T00:00:00Z",
    object: { kind, namespace: "shop", name },
    action: "hold",
    reason: "NoData",
    before: 16,
    after: 16,
    message: "Prometheus gave no sample; the weight stays 16",
    dryRun: false,
  };
}
