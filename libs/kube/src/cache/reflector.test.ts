import { describe, expect, test } from "@jest/globals";
import { MetricRegistry } from "@evenkeel/metrics";
import { FakeClock } from "@evenkeel/runtime/testing";
import { AlreadyStarted, ConnectionLost, Forbidden, TooManyRequests, Unreachable, WatchSilent } from "../errors.ts";
import type { KubeObject } from "../objects/object.ts";
import { Reflector, type ReflectorOptions } from "./reflector.ts";
import { reflectorMetrics } from "./reflector-metrics.ts";
import { type Change, Store } from "./store.ts";
import { captureLog } from "../testing/captured-log.ts";
import { gone, MemoryResource, refusal } from "../testing/memory-resource.ts";

const object = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  metadata: { namespace: "shop", name, labels },
});

const lost = () => new ConnectionLost({ call: "watch", fault: "reset" });
const refused = () => new Unreachable({ call: "watch", fault: "refused" });

function world(options: Partial<ReflectorOptions<KubeObject>> = {}) {
  const clock = new FakeClock();
  const { log, lines } = captureLog();
  const resource = new MemoryResource<KubeObject>();
  const store = new Store<KubeObject>({ log });
  const reflector = new Reflector({ name: "things", resource, store, clock, random: () => 0, log, ...options });
  const equal = () =>
    expect(new Map([...store.values()].map((each) => [each.metadata.name, each]))).toEqual(
      new Map([...resource.objects.values()].map((each) => [each.metadata.name, each])),
    );
  return { clock, resource, store, reflector, lines, equal };
}

describe("a reflector", () => {
  test("tells each failure, and once that data arrives again", async () => {
    const faults: unknown[] = [];
    const { clock, resource, reflector } = world({ onFault: (error) => faults.push(error) });
    const fault = refused();
    resource.failNext("watch", () => fault, 2);
    reflector.start();
    await clock.advance(60_000);
    resource.put(object("a"));
    await clock.advance(0);
    expect(faults).toEqual([fault, fault, undefined]);
    await reflector.stop();
  });

  test("fills the store from one streamed list and follows it on the same watch", async () => {
    const { clock, resource, store, reflector, equal } = world();
    resource.put(object("a"));
    reflector.start();
    expect(reflector.unready()).toContain("things");
    expect(reflector.staleness()).toBeUndefined();
    await clock.advance(0);
    expect(store.hasSynced).toBe(true);
    expect(reflector.unready()).toBeUndefined();
    resource.put(object("b"));
    resource.put(object("a", { x: "1" }));
    resource.take("shop/b");
    await clock.advance(0);
    equal();
    expect(resource.calls).toMatchObject([
      {
        verb: "watch",
        options: {
          sendInitialEvents: true,
          resourceVersionMatch: "NotOlderThan",
          allowWatchBookmarks: true,
          timeoutSeconds: 300,
        },
      },
    ]);
    await reflector.stop();
  });

  test("lists in pages if the server does not support streams, from its cache first", async () => {
    const { clock, resource, reflector, equal } = world({ pageSize: 2 });
    resource.streams = false;
    for (const name of ["a", "b", "c", "d", "e"]) resource.put(object(name));
    reflector.start();
    await clock.advance(0);
    equal();
    expect(resource.calls.map(({ verb }) => verb)).toEqual(["watch", "list", "list", "list", "watch"]);
    expect(resource.calls[1]?.options).toMatchObject({
      resourceVersion: "0",
      resourceVersionMatch: "NotOlderThan",
      limit: 2,
    });
    expect(resource.calls[4]?.options).toMatchObject({ resourceVersion: resource.version });
    await reflector.stop();
  });

  test("lists from storage if the cache does not have the version, and in one page if pages expire", async () => {
    const { clock, resource, reflector, equal } = world({ pageSize: 1, streamLists: false });
    resource.put(object("a"));
    resource.put(object("b"));
    resource.failNext("list", gone);
    resource.failNext("list", () => undefined);
    resource.failNext("list", gone);
    reflector.start();
    await clock.advance(0);
    equal();
    const lists = resource.calls.filter(({ verb }) => verb === "list").map(({ options }) => options);
    expect(lists.map(({ resourceVersion, limit }) => [resourceVersion, limit])).toEqual([
      ["0", 1],
      [undefined, 1],
      [undefined, 1],
      [undefined, 0],
    ]);
    await reflector.stop();
  });

  test("falls back to a list when the stream of the first state fails twice", async () => {
    const { clock, resource, reflector, equal } = world();
    resource.put(object("a"));
    resource.failNext("watch", lost, 2);
    reflector.start();
    await clock.advance(3000);
    equal();
    expect(resource.calls.map(({ verb }) => verb)).toEqual(["watch", "watch", "list", "watch"]);
    await reflector.stop();
  });

  test("opens a watch that ended again at once, from its last version", async () => {
    const { clock, resource, reflector, equal } = world();
    reflector.start();
    await clock.advance(0);
    resource.put(object("a"));
    await clock.advance(0);
    resource.cut();
    resource.put(object("b"));
    await clock.advance(0);
    equal();
    expect(resource.calls[1]).toMatchObject({ verb: "watch", options: { resourceVersion: "2" } });
    await reflector.stop();
  });

  test("remembers the version of a bookmark, so that a quiet type does not have to be listed again", async () => {
    const { clock, resource, reflector } = world();
    reflector.start();
    await clock.advance(0);
    for (let write = 0; write < 3; write++) resource.put(object("a"));
    resource.bookmark();
    await clock.advance(0);
    resource.compact();
    resource.cut();
    await clock.advance(0);
    expect(resource.watching).toBe(1);
    expect(resource.count("watch")).toBe(2);
    await reflector.stop();
  });

  test("lists again after 410 and reports what was deleted meanwhile", async () => {
    const { clock, resource, store, reflector, equal } = world();
    resource.put(object("a"));
    resource.put(object("b"));
    reflector.start();
    await clock.advance(0);
    const changes: Change<KubeObject>[] = [];
    store.subscribe((change) => void changes.push(change));
    changes.length = 0;
    resource.deafen();
    resource.take("shop/a");
    resource.put(object("c"));
    resource.compact();
    resource.cut(gone());
    await clock.advance(800);
    equal();
    expect(changes.map(({ type, key, relisted }) => [type, key, relisted])).toEqual([
      ["deleted", "shop/a", true],
      ["added", "shop/c", true],
    ]);
    await reflector.stop();
  });

  test("opens a half-open watch again and misses nothing", async () => {
    const { clock, resource, reflector, equal } = world();
    reflector.start();
    await clock.advance(0);
    resource.deafen();
    resource.put(object("a"));
    expect(resource.calls[0]?.options).toMatchObject({ silence: 100_000 });
    await clock.advance(100_000);
    resource.cut(new WatchSilent({ call: "watch", milliseconds: 100_000 }));
    await clock.advance(0);
    equal();
    await reflector.stop();
  });

  test.each([
    ["is no failure: of a type that never changed a server sends no bookmarks", false, 0],
    ["is a failure after a bookmark, since others are due", true, 1],
  ])("a watch in which nothing happens is opened again, and %s", async (_name, bookmarked, failures) => {
    const registry = new MetricRegistry();
    const { clock, resource, reflector, lines } = world({ metrics: registry.register(reflectorMetrics) });
    resource.put(object("a"));
    reflector.start();
    await clock.advance(0);
    if (bookmarked) resource.bookmark();
    await clock.advance(100_000);
    resource.cut(new WatchSilent({ call: "watch", milliseconds: 100_000 }));
    await clock.advance(0);
    expect([resource.count("watch"), resource.watching]).toEqual([2, 1]);
    expect(lines.filter(({ level }) => level === "warn")).toHaveLength(failures);
    const counted = (await registry.text()).includes('reflector_failures_total{reflector="things"} 1');
    expect(counted).toBe(failures === 1);
    await reflector.stop();
  });

  test("ends a watch that the server should have ended", async () => {
    const { clock, resource, reflector } = world();
    reflector.start();
    await clock.advance(329_999);
    expect(resource.count("watch")).toBe(1);
    await clock.advance(1);
    expect([resource.count("watch"), resource.watching]).toEqual([2, 1]);
    await reflector.stop();
  });

  test("retries for ever with few requests during an hour without the server", async () => {
    const { clock, resource, reflector, equal } = world();
    resource.put(object("a"));
    let away = true;
    resource.failNext("watch", () => (away ? refused() : undefined), 10_000);
    resource.failNext("list", () => (away ? refused() : undefined), 10_000);
    reflector.start();
    await clock.advance(3_600_000);
    expect(resource.calls.length).toBeGreaterThan(100);
    expect(resource.calls.length).toBeLessThan(260);
    away = false;
    await clock.advance(30_000);
    equal();
    await reflector.stop();
  });

  test("sends few requests when every watch fails after one event", async () => {
    const { clock, resource, reflector } = world();
    reflector.start();
    for (let second = 0; second < 600; second++) {
      resource.put(object("a"));
      await clock.advance(1000);
      resource.cut(lost());
    }
    expect(resource.count("watch")).toBeLessThan(10 + 100 + 60);
    await reflector.stop();
  });

  test("waits as long as an overloaded server asks", async () => {
    const { clock, resource, reflector } = world();
    reflector.start();
    await clock.advance(0);
    resource.failNext("watch", () => refusal(TooManyRequests, 429, "slow down", 7000));
    resource.cut();
    await clock.advance(6999);
    expect(resource.count("watch")).toBe(2);
    await clock.advance(1);
    expect(resource.count("watch")).toBe(3);
    await reflector.stop();
  });

  test("keeps its objects, reports their staleness and counts failures while it may not watch", async () => {
    const registry = new MetricRegistry();
    const { clock, resource, store, reflector, lines } = world({ metrics: registry.register(reflectorMetrics) });
    resource.put(object("a"));
    reflector.start();
    await clock.advance(0);
    resource.failNext("watch", () => refusal(Forbidden, 403, "no"), 1000);
    resource.cut();
    await clock.advance(60_000);
    expect(store.size).toBe(1);
    expect(reflector.staleness()).toBe(60_000);
    expect(lines[0]).toMatchObject({ level: "warn", error: { code: "EK_KUBE_FORBIDDEN" }, reflector: "things" });
    expect(await registry.text()).toContain('reflector_objects{reflector="things"} 1');
    await reflector.stop();
  });

  test("continues when a subscriber throws", async () => {
    const { clock, resource, store, reflector, equal } = world();
    store.subscribe(() => {
      throw new Error("boom");
    });
    resource.put(object("a"));
    reflector.start();
    await clock.advance(0);
    resource.put(object("b"));
    await clock.advance(0);
    equal();
    expect(resource.count("watch")).toBe(1);
    await reflector.stop();
  });

  test("cannot be started twice", async () => {
    const { reflector } = world();
    reflector.start();
    expect(() => reflector.start()).toThrow(AlreadyStarted);
    await reflector.stop();
  });
});

describe("a stop", () => {
  test("during a watch leaves nothing running", async () => {
    const { clock, resource, store, reflector } = world();
    reflector.start();
    await clock.advance(0);
    await reflector.stop();
    resource.put(object("late"));
    await clock.advance(600_000);
    expect([resource.watching, clock.pending, store.size, resource.calls.length]).toEqual([0, 0, 0, 1]);
  });

  test("during the first list opens no watch", async () => {
    const { clock, resource, reflector } = world({ streamLists: false });
    const answer = Promise.withResolvers<undefined>();
    resource.failNext("list", () => answer.promise);
    reflector.start();
    await clock.advance(0);
    const stopped = reflector.stop();
    answer.resolve(undefined);
    await stopped;
    expect([resource.count("watch"), clock.pending]).toEqual([0, 0]);
  });

  test("during a wait ends it at once", async () => {
    const { clock, resource, reflector } = world();
    resource.failNext("watch", refused);
    reflector.start();
    await clock.advance(0);
    expect(clock.pending).toBe(1);
    await reflector.stop();
    expect([clock.pending, resource.calls.length]).toEqual([0, 1]);
  });

  test("before a start does nothing", async () => {
    await world().reflector.stop();
  });
});

test("a large list yields to other work between slices", async () => {
  const { resource, store, reflector } = world({
    streamLists: false,
    pageSize: 500,
    // Each look at the clock is half a millisecond later.
    clock: steppingClock(0.5),
  });
  for (let index = 0; index < 2000; index++) resource.put(object(`n${index}`));
  let turns = 0;
  const count = () => {
    turns += 1;
    if (!store.hasSynced) setImmediate(count);
  };
  setImmediate(count);
  reflector.start();
  await store.whenSynced(new AbortController().signal);
  expect(turns).toBeGreaterThan(50);
  await reflector.stop();
});

function steppingClock(step: number) {
  let now = 0;
  return { now: () => 0, monotonic: () => (now += step), schedule: () => () => undefined };
}
