import { describe, expect, test } from "@jest/globals";
import { MetricRegistry } from "@evenkeel/metrics";
import { FakeClock } from "@evenkeel/runtime/testing";
import fc from "fast-check";
import { Workqueue, type WorkqueueOptions } from "./workqueue.ts";
import { workqueueMetrics } from "./workqueue-metrics.ts";

const forever = new AbortController().signal;

function newQueue(options: Partial<WorkqueueOptions> = {}) {
  const clock = new FakeClock();
  const queue = new Workqueue({ name: "things", clock, ...options });
  const taken: string[] = [];
  /** Takes keys as they come and does not finish them. */
  const taking = async () => {
    for (let item = await queue.take(forever); item; item = await queue.take(forever)) taken.push(item.key);
  };
  return { clock, queue, taken, taking };
}

describe("a workqueue", () => {
  test("returns a key that was added several times once, in the order of the first adds", async () => {
    const { queue, clock, taken, taking } = newQueue();
    for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
    expect(queue.length).toBe(3);
    void taking();
    await clock.advance(0);
    expect(taken).toEqual(["a", "b", "c"]);
  });

  test("returns a key to one worker at a time, and again afterwards if it was added meanwhile", async () => {
    const { queue, clock, taken, taking } = newQueue();
    queue.add("a");
    void taking();
    await clock.advance(0);
    queue.add("a");
    queue.add("a");
    await clock.advance(0);
    expect(taken).toEqual(["a"]);
    queue.done("a");
    await clock.advance(0);
    expect(taken).toEqual(["a", "a"]);
    queue.done("a");
    await clock.advance(0);
    expect(taken).toEqual(["a", "a"]);
  });

  test("serves waiting workers in order", async () => {
    const { queue } = newQueue();
    const first = queue.take(forever);
    const second = queue.take(forever);
    queue.add("a");
    queue.add("b");
    expect([(await first)?.key, (await second)?.key]).toEqual(["a", "b"]);
  });

  test("ends a take when its signal aborts, and loses no key", async () => {
    const { queue } = newQueue();
    const ending = new AbortController();
    const first = queue.take(ending.signal);
    const second = queue.take(forever);
    ending.abort();
    queue.add("a");
    expect([await first, (await second)?.key]).toEqual([undefined, "a"]);
  });
});

describe("a delayed key", () => {
  test("is returned when it is due, the earliest first", async () => {
    const { queue, clock, taken, taking } = newQueue();
    void taking();
    queue.add("late", { after: 3000 });
    queue.add("soon", { after: 1000 });
    queue.add("middle", { after: 2000 });
    await clock.advance(999);
    expect(taken).toEqual([]);
    await clock.advance(1);
    expect(taken).toEqual(["soon"]);
    await clock.advance(2000);
    expect(taken).toEqual(["soon", "middle", "late"]);
  });

  test("is returned once, at the earliest of its times", async () => {
    const { queue, clock, taken, taking } = newQueue();
    void taking();
    queue.add("a", { after: 5000 });
    queue.add("a", { after: 1000 });
    queue.add("a", { after: 9000 });
    await clock.advance(1000);
    expect(taken).toEqual(["a"]);
    queue.done("a");
    await clock.advance(60_000);
    expect(taken).toEqual(["a"]);
    expect(clock.pending).toBe(0);
  });

  test("is returned at once when it is added without a delay", async () => {
    const { queue, clock, taken, taking } = newQueue();
    void taking();
    queue.add("a", { after: 5000 });
    queue.add("a");
    await clock.advance(0);
    queue.done("a");
    await clock.advance(60_000);
    expect(taken).toEqual(["a"]);
  });

  test("may be due in a year", async () => {
    const { queue, clock, taken, taking } = newQueue();
    void taking();
    queue.add("a", { after: 365 * 86_400_000 });
    await clock.advance(364 * 86_400_000);
    expect(taken).toEqual([]);
    await clock.advance(86_400_000);
    expect(taken).toEqual(["a"]);
  });
});

describe("a key that failed", () => {
  test("waits 5 ms, then twice as long each time, up to 5 minutes; success ends that", async () => {
    const { queue, clock, taken, taking } = newQueue();
    void taking();
    const waits: number[] = [];
    for (let failure = 0; failure < 18; failure++) {
      queue.addRateLimited("a");
      const due = Math.min(5 * 2 ** failure, 300_000);
      await clock.advance(due - 1);
      expect(taken).toHaveLength(failure);
      await clock.advance(1);
      expect(taken).toHaveLength(failure + 1);
      waits.push(due);
      queue.done("a");
    }
    expect(waits.slice(-3)).toEqual([163_840, 300_000, 300_000]);
    expect(queue.failures("a")).toBe(18);
    queue.forget("a");
    queue.addRateLimited("a");
    await clock.advance(5);
    expect(taken).toHaveLength(19);
  });

  test("waits for the overall rate", async () => {
    const { queue, clock, taken, taking } = newQueue({
      limits: { perKey: { base: 5, cap: 1000 }, overall: { perSecond: 10, burst: 3 } },
    });
    void taking();
    for (const key of ["a", "b", "c", "d", "e"]) queue.addRateLimited(key);
    await clock.advance(5);
    expect(taken).toEqual(["a", "b", "c"]);
    await clock.advance(95);
    expect(taken).toEqual(["a", "b", "c", "d"]);
    await clock.advance(100);
    expect(taken).toEqual(["a", "b", "c", "d", "e"]);
  });
});

describe("priorities", () => {
  test("put normal keys before low ones, and raise a low key that is added as normal", async () => {
    const { queue, clock, taken, taking } = newQueue();
    for (const key of ["bulk1", "bulk2", "bulk3"]) queue.add(key, { priority: "low" });
    queue.add("urgent");
    queue.add("bulk3");
    void taking();
    await clock.advance(0);
    expect(taken).toEqual(["urgent", "bulk3", "bulk1", "bulk2"]);
  });

  test("never starve low keys", async () => {
    const { queue, clock, taken, taking } = newQueue();
    queue.add("bulk", { priority: "low" });
    for (let index = 0; index < 50; index++) queue.add(`urgent${index}`);
    void taking();
    await clock.advance(0);
    expect(taken.indexOf("bulk")).toBe(10);
  });
});

describe("a queue that is shut down", () => {
  test("drops what waits or is delayed, accepts nothing more, and ends every take", async () => {
    const { queue, clock } = newQueue();
    queue.add("a");
    await queue.take(forever);
    queue.add("a");
    queue.add("b");
    queue.add("later", { after: 1000 });
    const taken = [queue.take(forever), queue.take(forever)];
    queue.shutDown();
    queue.add("c");
    queue.addRateLimited("d");
    queue.done("a");
    expect(await Promise.all([...taken, queue.take(forever)])).toEqual([
      { key: "b", priority: "normal" },
      undefined,
      undefined,
    ]);
    expect([queue.length, clock.pending]).toEqual([0, 0]);
  });
});

test("its metrics are client-go's", async () => {
  const registry = new MetricRegistry();
  const { queue, clock } = newQueue({ metrics: registry.register(workqueueMetrics) });
  queue.add("a");
  queue.add("b");
  queue.add("b");
  await clock.advance(2000);
  await queue.take(forever);
  queue.addRateLimited("a");
  await clock.advance(3000);
  const lines = (await registry.text()).split("\n");
  for (const line of [
    'workqueue_adds_total{name="things"} 3',
    'workqueue_depth{name="things"} 1',
    'workqueue_retries_total{name="things"} 1',
    'workqueue_queue_duration_seconds_sum{name="things"} 2',
    'workqueue_unfinished_work_seconds{name="things"} 3',
    'workqueue_longest_running_processor_seconds{name="things"} 3',
  ]) {
    expect(lines).toContain(line);
  }
  queue.done("a");
  expect(await registry.text()).toContain('workqueue_work_duration_seconds_sum{name="things"} 3');
});

test("no key is processed twice at a time, and every key is processed after its last add", async () => {
  const key = fc.constantFrom("a", "b", "c", "d", "e");
  const step = fc.oneof(
    fc.record({ do: fc.constant("add" as const), key, low: fc.boolean() }),
    fc.record({ do: fc.constant("later" as const), key, after: fc.integer({ min: 1, max: 50 }) }),
    fc.record({ do: fc.constant("fail" as const), key }),
    fc.record({ do: fc.constant("finish" as const), key }),
    fc.record({ do: fc.constant("wait" as const), time: fc.integer({ min: 0, max: 30 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { queue, clock } = newQueue();
      const working = new Set<string>();
      const owed = new Set<string>();
      const worker = async () => {
        for (let item = await queue.take(forever); item; item = await queue.take(forever)) {
          expect(working.has(item.key)).toBe(false);
          working.add(item.key);
          owed.delete(item.key);
        }
      };
      const workers = [worker(), worker()];
      const finish = (each: string) => {
        if (!working.delete(each)) return;
        queue.done(each);
      };
      for (const next of steps) {
        if (next.do === "add") queue.add(next.key, { priority: next.low ? "low" : "normal" });
        else if (next.do === "later") queue.add(next.key, { after: next.after });
        else if (next.do === "fail") queue.addRateLimited(next.key);
        else if (next.do === "finish") finish(next.key);
        else await clock.advance(next.time);
        if (next.do === "add" || next.do === "later" || next.do === "fail") owed.add(next.key);
      }
      for (let round = 0; round < 20; round++) {
        await clock.advance(100_000);
        for (const each of [...working]) finish(each);
      }
      expect([...owed]).toEqual([]);
      queue.shutDown();
      await Promise.all(workers);
      expect(clock.pending).toBe(0);
    }),
    { numRuns: 150 },
  );
});
