import { describe, expect, test } from "@jest/globals";
import { MetricRegistry } from "@evenkeel/metrics";
import { sleep, termUntil } from "@evenkeel/runtime";
import { FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { controller, type ControllerOptions, type ReconcileContext } from "./controller.ts";
import { controllerMetrics } from "./controller-metrics.ts";
import { lastLook } from "./last-look.ts";
import { changesOf } from "./controller-source.ts";
import { Forbidden, ServerFault } from "../errors.ts";
import type { KubeObject, ObjectName } from "../objects/object.ts";
import { nameKey } from "../objects/object-key.ts";
import { requeueLimits } from "../queue/requeue-limiter.ts";
import { StatusWriter, type StoredObject } from "../objects/status-writer.ts";
import { Store } from "../cache/store.ts";
import { captureLog } from "../testing/captured-log.ts";
import { MemoryResource, refusal } from "../testing/memory-resource.ts";

const object = (name: string, version = "1"): KubeObject => ({
  metadata: { namespace: "shop", name, uid: name, resourceVersion: version },
});

function world(
  reconcile: (object: ObjectName, context: ReconcileContext) => ReturnType<ControllerOptions["reconcile"]>,
  options: Partial<ControllerOptions> = {},
) {
  const clock = new FakeClock();
  const { log, lines } = captureLog();
  const store = new Store<KubeObject>({ log });
  const seen: string[] = [];
  const loop = controller({
    name: "things",
    sources: [changesOf(store)],
    clock,
    log,
    reconcile: (name, context) => {
      seen.push(nameKey(name));
      return reconcile(name, context);
    },
    ...options,
  });
  const relist = (...objects: readonly KubeObject[]) => {
    const draft = store.draft();
    for (const each of objects) draft.put(each);
    Array.from(store.replace(draft));
  };
  const ending = new AbortController();
  const term = termUntil(ending.signal, 7n);
  return { clock, lines, store, seen, loop, relist, ending, term };
}

const nothing = () => Promise.resolve(undefined);

describe("a controller", () => {
  test("reconciles nothing before its sources are synced, then everything, then what changes", async () => {
    const { clock, store, seen, loop, relist, ending, term } = world(nothing);
    const run = loop(term);
    store.put(object("early"));
    await clock.advance(1000);
    expect(seen).toEqual([]);
    relist(object("a"), object("b"));
    await clock.advance(0);
    expect(seen).toEqual(["shop/a", "shop/b"]);
    store.put(object("a", "2"));
    store.remove(object("b"));
    await clock.advance(0);
    expect(seen.slice(2)).toEqual(["shop/a", "shop/b"]);
    ending.abort();
    await run;
    expect(clock.pending).toBe(0);
  });

  test("reconciles again after requeueAfter", async () => {
    const { clock, seen, loop, relist, ending, term } = world(() => Promise.resolve({ requeueAfter: 30_000 }));
    relist(object("a"));
    const run = loop(term);
    await clock.advance(29_999);
    expect(seen).toHaveLength(1);
    await clock.advance(1);
    expect(seen).toHaveLength(2);
    ending.abort();
    await run;
    expect(clock.pending).toBe(0);
  });

  test("retries with growing waits after an error that is retryable or has no code", async () => {
    let tries = 0;
    const { clock, lines, seen, loop, relist, ending, term } = world(() => {
      tries += 1;
      if (tries === 1) throw new TypeError("a defect");
      return tries < 4 ? Promise.reject(refusal(ServerFault, 500, "oops")) : nothing();
    });
    relist(object("a"));
    const run = loop(term);
    await clock.advance(5 + 10 + 20);
    expect(seen).toHaveLength(4);
    expect(lines).toMatchObject([
      { level: "warn", object: "shop/a", controller: "things", failures: 1, error: { message: "a defect" } },
      { level: "warn", failures: 2, error: { code: "EK_KUBE_SERVER_FAULT" } },
      { level: "warn", failures: 3 },
    ]);
    expect(lines[0]?.["reconcile"]).toMatch(/^[0-9a-f-]{36}$/);
    await clock.advance(1_000_000);
    expect(seen).toHaveLength(4);
    ending.abort();
    await run;
  });

  test("retries after a terminal error when something changes, else every five minutes", async () => {
    const { clock, lines, store, seen, loop, relist, ending, term } = world(() =>
      Promise.reject(refusal(Forbidden, 403, "no")),
    );
    relist(object("a"));
    const run = loop(term);
    await clock.advance(299_999);
    expect(seen).toHaveLength(1);
    expect(lines).toMatchObject([{ level: "error", error: { code: "EK_KUBE_FORBIDDEN" } }]);
    store.put(object("a", "2"));
    await clock.advance(0);
    expect(seen).toHaveLength(2);
    await clock.advance(300_000);
    expect(seen).toHaveLength(3);
    await clock.advance(300_000);
    expect(seen).toHaveLength(4);
    ending.abort();
    await run;
  });

  test("aborts a reconcile at its deadline and retries it", async () => {
    const { clock, lines, seen, loop, relist, ending, term } = world(
      (_name, { signal }) => sleep(clock, 3_600_000, signal).then(() => undefined),
      { deadline: 1000 },
    );
    relist(object("a"));
    const run = loop(term);
    await clock.advance(1000);
    expect(lines).toMatchObject([{ level: "warn", error: { code: "EK_RUNTIME_DEADLINE_EXCEEDED" } }]);
    await clock.advance(5);
    expect(seen).toHaveLength(2);
    ending.abort();
    await run;
    expect(clock.pending).toBe(0);
  });

  test("can have a deadline for each object", async () => {
    const { clock, lines, loop, relist, ending, term } = world(
      (_name, { signal }) => sleep(clock, 3_600_000, signal).then(() => undefined),
      {
        deadline: ({ name }) => (name === "slow" ? 120_000 : 1000),
        workers: 2,
        limits: { ...requeueLimits, perKey: { base: 1_000_000, cap: 1_000_000 } },
      },
    );
    relist(object("quick"), object("slow"));
    const run = loop(term);
    await clock.advance(119_999);
    expect(lines.map((line) => line["object"])).toEqual(["shop/quick"]);
    await clock.advance(1);
    expect(lines.map((line) => line["object"])).toEqual(["shop/quick", "shop/slow"]);
    ending.abort();
    await run;
  });

  test("lets a reconcile write its status after its deadline", async () => {
    const resource = new MemoryResource<StoredObject<{ readonly phase: string }>>();
    const stored = resource.put(object("a"));
    const statuses = new StatusWriter<typeof stored, { readonly phase: string }>(resource);
    const { clock, seen, loop, relist, ending, term } = world(async (_name, { signal, term: held }) => {
      await sleep(clock, 3_600_000, signal).catch(() => undefined);
      await statuses.write(stored, { phase: "TooSlow" }, held);
      return { requeueAfter: 30_000 };
    });
    relist(object("a"));
    const run = loop(term);
    await clock.advance(60_000);
    expect(resource.objects.get("shop/a")?.status).toEqual({ phase: "TooSlow" });
    await clock.advance(30_000);
    expect(seen).toHaveLength(2);
    ending.abort();
    await run;
  });

  test("reconciles again at once, without an error, when a last look stopped a write", async () => {
    const registry = new MetricRegistry();
    let looks = 0;
    const { clock, lines, store, seen, loop, relist, ending, term } = world(
      (_name, { term: held }) => {
        const look = lastLook(store, object("a"), held);
        if (++looks === 1) store.put({ metadata: { ...object("a").metadata, generation: 2 } });
        if (looks < 3) look();
        return nothing();
      },
      { metrics: registry.register(controllerMetrics) },
    );
    relist(object("a"));
    const run = loop(term);
    await clock.advance(0);
    expect(seen).toHaveLength(3);
    expect(lines.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
    const text = (await registry.text()).split("\n");
    expect(text).toContain('controller_runtime_reconcile_total{controller="things",result="overtaken"} 2');
    expect(text).not.toContain('controller_runtime_reconcile_errors_total{controller="things"} 1');
    ending.abort();
    await run;
  });

  test("takes a write that a last look stopped after the deadline for overtaken, not for late", async () => {
    const registry = new MetricRegistry();
    const { clock, lines, store, seen, loop, relist, ending, term } = world(
      async (_name, { signal, term: held }) => {
        if (seen.length > 1) return undefined;
        const look = lastLook(store, object("a"), held);
        await sleep(clock, 3_600_000, signal).catch(() => undefined);
        store.put({ metadata: { ...object("a").metadata, generation: 2 } });
        look();
        return undefined;
      },
      { metrics: registry.register(controllerMetrics) },
    );
    relist(object("a"));
    const run = loop(term);
    await clock.advance(60_000);
    expect(seen).toHaveLength(2);
    expect(lines.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
    expect((await registry.text()).split("\n")).toContain(
      'controller_runtime_reconcile_total{controller="things",result="overtaken"} 1',
    );
    ending.abort();
    await run;
  });

  test("never reconciles an object twice at a time, even past a deadline that is ignored", async () => {
    const running = Promise.withResolvers<undefined>();
    const { clock, store, seen, loop, relist, ending, term } = world(() => running.promise, {
      deadline: 1000,
      workers: 4,
    });
    relist(object("a"));
    const run = loop(term);
    await clock.advance(5000);
    store.put(object("a", "2"));
    await clock.advance(5000);
    expect(seen).toHaveLength(1);
    running.resolve(undefined);
    await clock.advance(0);
    expect(seen).toHaveLength(2);
    ending.abort();
    await run;
  });

  test("reconciles as many objects at once as it has workers", async () => {
    let [running, most] = [0, 0];
    const { clock, seen, loop, relist, ending, term } = world(
      async () => {
        most = Math.max(most, ++running);
        await sleep(clock, 100);
        running -= 1;
        return undefined;
      },
      { workers: 3 },
    );
    relist(...Array.from({ length: 9 }, (_, index) => object(`n${index}`)));
    const run = loop(term);
    await clock.advance(300);
    expect([seen.length, most]).toEqual([9, 3]);
    ending.abort();
    await run;
  });

  test("ends with its term: running reconciles are aborted and awaited, queued keys are dropped", async () => {
    let ended = false;
    const { clock, lines, seen, loop, relist, ending, term } = world(
      async (_name, { signal, term: { fencingToken } }) => {
        expect(fencingToken).toBe(7n);
        await sleep(clock, 1000, signal).finally(() => (ended = true));
        return undefined;
      },
    );
    relist(object("a"), object("b"));
    const run = loop(term);
    await clock.advance(0);
    ending.abort();
    await run;
    expect([ended, seen, clock.pending]).toEqual([true, ["shop/a"], 0]);
    expect(lines.filter(({ level }) => level !== "debug")).toEqual([]);
  });

  test("starts a new term with every object", async () => {
    const { clock, seen, loop, relist, ending, term } = world(nothing);
    relist(object("a"), object("b"));
    const first = loop(term);
    await clock.advance(0);
    ending.abort();
    await first;
    const again = new AbortController();
    const second = loop(termUntil(again.signal, 8n));
    await clock.advance(0);
    expect(seen).toEqual(["shop/a", "shop/b", "shop/a", "shop/b"]);
    again.abort();
    await second;
  });
});

test("an update of an owned object enqueues its old and its new owner", () => {
  const log = silentLog();
  const store = new Store<KubeObject>({ log });
  const keys: string[] = [];
  changesOf(store, ({ metadata: { labels } }) => (labels?.["owner"] ? [labels["owner"]] : [])).subscribe((key) =>
    keys.push(key),
  );
  const owned = (owner: string): KubeObject => ({ metadata: { name: "pod", uid: "1", labels: { owner } } });
  store.put(owned("a"));
  store.put(owned("b"));
  store.put(owned("b"));
  expect(keys).toEqual(["a", "a", "b", "b"]);
});

test("a controller's metrics are controller-runtime's", async () => {
  const registry = new MetricRegistry();
  const { clock, loop, relist, ending, term } = world(
    ({ name }) => {
      if (name === "broken") return Promise.reject(refusal(Forbidden, 403, "no"));
      return Promise.resolve(name === "again" ? { requeueAfter: 60_000 } : undefined);
    },
    { metrics: registry.register(controllerMetrics), workers: 2 },
  );
  relist(object("a"), object("again"), object("broken"));
  const run = loop(term);
  await clock.advance(0);
  const lines = (await registry.text()).split("\n");
  for (const line of [
    'controller_runtime_reconcile_total{controller="things",result="success"} 1',
    'controller_runtime_reconcile_total{controller="things",result="requeue_after"} 1',
    'controller_runtime_reconcile_total{controller="things",result="error"} 1',
    'controller_runtime_reconcile_errors_total{controller="things"} 1',
    'controller_runtime_terminal_reconcile_errors_total{controller="things"} 1',
    'controller_runtime_max_concurrent_reconciles{controller="things"} 2',
    'controller_runtime_active_workers{controller="things"} 0',
    'controller_runtime_reconcile_time_seconds_count{controller="things"} 3',
  ]) {
    expect(lines).toContain(line);
  }
  ending.abort();
  await run;
});
