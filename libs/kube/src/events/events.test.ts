import { describe, expect, test } from "@jest/globals";
import { MetricRegistry } from "@evenkeel/metrics";
import type { Decision } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import { Unreachable } from "../errors.ts";
import { eventMetrics } from "./event-metrics.ts";
import { eventSink } from "./event-sink.ts";
import { eventName, withinBytes } from "./event-text.ts";
import { EventRecorder, type EventRecorderOptions, type Happening } from "./events.ts";
import type { Event } from "../objects/resource-types.ts";
import { captureLog } from "../testing/captured-log.ts";
import { MemoryResource } from "../testing/memory-resource.ts";

const moved: Happening = {
  regarding: { apiVersion: "rebalancer.dev/v1", kind: "RebalancePolicy", namespace: "shop", name: "web", uid: "u1" },
  type: "Normal",
  reason: "NodeTooFull",
  action: "evict",
  note: "web-1 leaves node a, which is at 93 %",
};

const about = (name: string): Happening => ({ ...moved, regarding: { ...moved.regarding, name } });

function world(limits: EventRecorderOptions["limits"] = {}) {
  const clock = new FakeClock();
  const { log, lines } = captureLog();
  const events = new MemoryResource<Event>();
  const registry = new MetricRegistry();
  const recorder = new EventRecorder({
    events,
    controller: "evenkeel.io/eviction-planner",
    instance: "planner-0",
    clock,
    random: () => 0.5,
    log,
    metrics: registry.register(eventMetrics),
    limits,
  });
  const counts = async () => {
    const found: Record<string, number> = {};
    for (const [, outcome = "", count] of (await registry.text()).matchAll(/outcome="(\w+)"\} (\d+)/g)) {
      if (count !== "0") found[outcome] = Number(count);
    }
    return found;
  };
  return { clock, events, recorder, lines, counts, written: () => [...events.objects.values()] };
}

const never = new AbortController().signal;

describe("an event recorder", () => {
  test("forgets objects that come and go, once what it knows of them makes no difference", async () => {
    const { clock, recorder } = world();
    for (let index = 0; index < 100; index++) recorder.record(about(`web-${index}`));
    expect(recorder.remembered).toBe(200);
    await clock.advance(750_000);
    recorder.record(about("web-new"));
    expect(recorder.remembered).toBe(2);
  });

  test("writes an Event that names controller, object, reason and action", async () => {
    const { clock, recorder, written } = world();
    recorder.record(moved);
    await clock.advance(0);
    expect(written()).toMatchObject([
      {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        metadata: { namespace: "shop", name: expect.stringMatching(/^web\.[0-9a-f]+$/) },
        eventTime: "2026-01-01T00:00:00.000000Z",
        reportingController: "evenkeel.io/eviction-planner",
        reportingInstance: "planner-0",
        type: "Normal",
        reason: "NodeTooFull",
        action: "evict",
        note: "web-1 leaves node a, which is at 93 %",
        regarding: moved.regarding,
      },
    ]);
  });

  test("counts repeats on the first Event, gathered into few requests", async () => {
    const { clock, events, recorder, written } = world();
    for (let second = 0; second < 60; second++) {
      recorder.record(moved);
      await clock.advance(1000);
    }
    await clock.advance(10_000);
    expect(written()).toHaveLength(1);
    expect(written()[0]?.series).toEqual({ count: 60, lastObservedTime: "2026-01-01T00:00:59.000000Z" });
    expect(events.count("patch")).toBeLessThanOrEqual(7);
    expect(clock.pending).toBe(0);
  });

  test("gives each message an Event of its own, and counts a repeat on the Event that says the same", async () => {
    const { clock, recorder, written } = world();
    const raised = (weight: number) => recorder.record({ ...moved, note: `the weight is ${weight}` });
    raised(16);
    raised(20);
    await clock.advance(1000);
    raised(24);
    raised(16);
    await clock.advance(30_000);
    expect(written().map(({ note, eventTime, series }) => [note, eventTime, series?.count])).toEqual([
      ["the weight is 16", "2026-01-01T00:00:00.000000Z", 2],
      ["the weight is 20", "2026-01-01T00:00:00.000000Z", undefined],
      ["the weight is 24", "2026-01-01T00:00:01.000000Z", undefined],
    ]);
  });

  test("writes the newer message after one that could not be written or has expired", async () => {
    const { clock, events, recorder, written } = world();
    events.failNext("create", () => new Unreachable({ call: "create", fault: "refused" }));
    recorder.record({ ...moved, note: "lost" });
    await clock.advance(1000);
    recorder.record({ ...moved, note: "after the outage" });
    await clock.advance(30_000);
    expect(written().map(({ note }) => note)).toEqual(["after the outage"]);
    for (const key of [...events.objects.keys()]) events.take(key);
    recorder.record({ ...moved, note: "after the expiry" });
    await clock.advance(30_000);
    expect(written().map(({ note }) => note)).toEqual(["after the expiry"]);
  });

  test("counts repeats that come before the first Event is written", async () => {
    const { clock, recorder, written } = world();
    for (let time = 0; time < 3; time++) recorder.record(moved);
    await clock.advance(30_000);
    expect(written()).toHaveLength(1);
    expect(written()[0]?.series?.count).toBe(3);
  });

  test("writes a new Event when the repeat comes late, or the first one has expired", async () => {
    const { clock, events, recorder, written } = world();
    recorder.record(moved);
    await clock.advance(360_000);
    recorder.record(moved);
    await clock.advance(0);
    expect(written()).toHaveLength(2);
    for (const key of [...events.objects.keys()]) events.take(key);
    recorder.record(moved);
    await clock.advance(10_000);
    expect(written()).toHaveLength(1);
    expect(written()[0]).not.toHaveProperty("series");
  });

  test("puts Events about cluster-scoped objects into default", async () => {
    const { clock, recorder, written } = world();
    recorder.record({ ...moved, regarding: { kind: "Node", name: "a" } });
    await clock.advance(0);
    expect(written()[0]?.metadata.namespace).toBe("default");
  });

  test("limits the Events about one object, and leaves the others theirs", async () => {
    const { clock, recorder, written, counts } = world({ overall: { perSecond: 1000, burst: 1000 } });
    for (let index = 0; index < 30; index++) recorder.record({ ...moved, reason: `Reason${index}` });
    recorder.record(about("api"));
    await clock.advance(1000);
    expect(written()).toHaveLength(26);
    expect(await counts()).toEqual({ created: 26, object_limit: 5 });
  });

  test("sends no faster than its rate, and drops what finds the queue full", async () => {
    const { clock, events, recorder, counts } = world({ overall: { perSecond: 1, burst: 2 }, queue: 5 });
    for (let index = 0; index < 10; index++) recorder.record(about(`web${index}`));
    await clock.advance(0);
    expect(events.count("create")).toBe(2);
    await clock.advance(10_000);
    expect(await counts()).toEqual({ created: 5, queue_full: 5 });
  });

  test("never throws: an outage costs Events, one warning and nothing else", async () => {
    const { clock, events, recorder, lines, counts } = world();
    events.failNext("create", () => new Unreachable({ call: "create", fault: "refused" }), 3);
    for (let index = 0; index < 4; index++) recorder.record(about(`web${index}`));
    await clock.advance(1000);
    expect(await counts()).toEqual({ created: 1, failed: 3 });
    expect(lines.map(({ level }) => level)).toEqual(["warn", "debug", "debug"]);
  });

  test("writes what waits before it stops, and nothing after", async () => {
    const { clock, recorder, written, counts } = world();
    recorder.record(moved);
    await clock.advance(0);
    recorder.record(moved);
    recorder.record(about("api"));
    await recorder.stop(never);
    expect(written()).toHaveLength(2);
    expect(written()[0]?.series?.count).toBe(2);
    recorder.record(about("late"));
    expect(await counts()).toEqual({ created: 2, counted: 1, stopped: 1 });
    expect(clock.pending).toBe(0);
  });

  test("gives up what it cannot write before the deadline of its stop", async () => {
    const { clock, recorder, counts } = world({ overall: { perSecond: 0.001, burst: 1 } });
    for (const name of ["a", "b", "c"]) recorder.record(about(name));
    const deadline = new AbortController();
    const stopped = recorder.stop(deadline.signal);
    await clock.advance(1000);
    deadline.abort();
    await stopped;
    expect(await counts()).toEqual({ created: 1, stopped: 2 });
    expect(clock.pending).toBe(0);
  });
});

describe("the event sink", () => {
  const decision: Decision = {
    id: "1",
    at: "2026-01-01T00:00:00Z",
    object: { kind: "RebalancePolicy", namespace: "shop", name: "web" },
    action: "hold",
    reason: "NoData",
    before: 16,
    after: 16,
    message: "Prometheus gave no sample; the weight stays 16",
    dryRun: false,
  };

  test("writes one Event for a decision, about the object that it names", () => {
    const recorded: Happening[] = [];
    eventSink({ recorder: { record: (happening) => recorded.push(happening) } }).record(decision);
    expect(recorded).toEqual([
      {
        regarding: { kind: "RebalancePolicy", namespace: "shop", name: "web" },
        type: "Normal",
        reason: "NoData",
        action: "hold",
        note: "Prometheus gave no sample; the weight stays 16",
      },
    ]);
  });

  test("looks up the object, warns of bad news and says what is a dry run", () => {
    const recorded: Happening[] = [];
    const sink = eventSink({
      recorder: { record: (happening) => recorded.push(happening) },
      refer: (object) => ({ ...object, apiVersion: "rebalancer.dev/v1", uid: "u1" }),
      isWarning: ({ reason }) => reason === "NoData",
    });
    sink.record({ ...decision, dryRun: true });
    expect(recorded).toMatchObject([
      { regarding: { uid: "u1" }, type: "Warning", note: "Dry run: Prometheus gave no sample; the weight stays 16" },
    ]);
  });
});

test("a note is cut to bytes at a whole character", () => {
  expect(withinBytes("x".repeat(1024), 1024)).toHaveLength(1024);
  const cut = withinBytes("é".repeat(600), 1024);
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1024);
  expect(cut).toBe(`${"é".repeat(510)}…`);
  expect(withinBytes("😀".repeat(300), 1024)).toBe(`${"😀".repeat(255)}…`);
});

test("an Event's name is one that the API server takes, whatever the object's", () => {
  expect(eventName("system:node", "1a")).toBe("system-node.1a");
  expect(eventName("-.-", "1a")).toBe("1a");
  const long = eventName(`${"a".repeat(249)}-b`, "0123456789abcdef");
  expect(long.length).toBeLessThanOrEqual(253);
  expect(long).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/);
});
