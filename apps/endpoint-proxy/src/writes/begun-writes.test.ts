import { FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import type { Json } from "../bodies/json-text.ts";
import { BegunWrites, type WriteStreams } from "./begun-writes.ts";
import { ABSENT, markOf } from "./put-back.ts";

const log = silentLog();
const WEB = "Deployment default/web";
const PATIENCE = 60_000;
const web = (replicas: number): Json => ({ metadata: { name: "web" }, spec: { replicas } });

/** Shared state that outlives the processes. */
class Streams implements WriteStreams {
  texts: string[] = [];
  append(_object: string, _stream: string, text: string) {
    return Promise.resolve(void this.texts.push(text));
  }
  newest() {
    return Promise.resolve(this.texts.toReversed().map((text) => ({ text })));
  }
  async *tail() {
    for (const text of this.texts) yield await Promise.resolve({ text });
  }
}

const started = async (streams: WriteStreams, instance = "pod-1", clock = new FakeClock()) => {
  const writes = new BegunWrites({ streams, clock, log, instance, patience: PATIENCE });
  await writes.start();
  return { writes, clock };
};
const raised = {
  ...{ object: WEB, what: "a write of 20 replicas", isScale: false },
  members: Object.fromEntries(
    ["a", "b"].map((name) => [name, { before: markOf(web(4), false), asked: markOf(web(10), false) }]),
  ),
};

test("the next process of a pod tells what the last one left undone, until a write makes it whole", async () => {
  const streams = new Streams();
  await (await started(streams)).writes.begin(raised);
  const { writes } = await started(streams);
  const now = new Map([...Object.entries({ a: web(10), b: web(4) })]);
  expect(writes.warnings(WEB, now)).toEqual([expect.stringContaining("done in a, not in b")]);
  expect(writes.warnings("Deployment default/other", now)).toEqual([]);
  writes.settle(WEB);
  expect(writes.warnings(WEB, now)).toEqual([]);
  // It is settled for the process after that too.
  expect((await started(streams)).writes.hasUnfinished(WEB)).toBe(false);
});

test.each([
  ["as asked", { a: web(10), b: web(10) }],
  ["as before", { a: web(4), b: web(4) }],
  ["changed by somebody else since", { a: web(10), b: web(7) }],
])("nothing is told, and it is forgotten, if all members are %s", async (_how, objects) => {
  const streams = new Streams();
  await (await started(streams)).writes.begin(raised);
  const { writes } = await started(streams);
  expect(writes.warnings(WEB, new Map(Object.entries(objects)))).toEqual([]);
  expect(writes.hasUnfinished(WEB)).toBe(false);
});

test("while a member does not answer, it is told as not known where another is written, and not forgotten", async () => {
  const streams = new Streams();
  await (await started(streams)).writes.begin(raised);
  const { writes } = await started(streams);
  expect(writes.warnings(WEB, new Map([["a", web(10)]]))).toEqual([
    expect.stringContaining("done in a, not known in b"),
  ]);
  expect(writes.warnings(WEB, new Map([["a", web(4)]]))).toEqual([]);
  expect(writes.warnings(WEB, new Map(Object.entries({ a: web(10), b: web(4) })))).toHaveLength(1);
});

test("a write of another replica has not ended in error before its time is over", async () => {
  const streams = new Streams();
  const { clock } = await started(streams);
  const other = await started(streams, "pod-2", clock);
  const end = await other.writes.begin(raised);
  const { writes } = await started(streams, "pod-1", clock);
  expect(writes.hasUnfinished(WEB)).toBe(false);
  await clock.advance(PATIENCE + 1);
  expect(writes.hasUnfinished(WEB)).toBe(true);
  // Its own process knows better.
  expect(other.writes.hasUnfinished(WEB)).toBe(false);
  end();
  expect((await started(streams, "pod-1", clock)).writes.hasUnfinished(WEB)).toBe(false);
});

test("a deletion is done where the object is gone", async () => {
  const streams = new Streams();
  const members = Object.fromEntries(["a", "b"].map((name) => [name, { before: null, asked: ABSENT }]));
  await (await started(streams)).writes.begin({ ...raised, what: "a deletion", members });
  const { writes } = await started(streams);
  const now = new Map<string, Json | undefined>([["a", web(4)]]).set("b", undefined);
  expect(writes.warnings(WEB, now)).toEqual([expect.stringContaining("done in b, not in a")]);
});

test("a write goes on while shared state is away", async () => {
  const away = async () => Promise.reject(new Error("away"));
  const tail = async function* () {
    yield await away();
  };
  const { writes } = await started({ append: away, newest: away, tail });
  (await writes.begin(raised))();
  expect(writes.hasUnfinished(WEB)).toBe(false);
});

test("entries that are not of this program are passed over", async () => {
  const streams = new Streams();
  streams.texts = ["[", "null", "{}", '{"begun":{}}', '{"begun":null}'];
  await (await started(streams)).writes.begin(raised);
  expect((await started(streams)).writes.hasUnfinished(WEB)).toBe(true);
});
