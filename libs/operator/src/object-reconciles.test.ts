import { type CallOptions, type ConfigMap, type ReconcileContext, type Resource, Store } from "@evenkeel/kube";
import { createLogger, explain, termUntil } from "@evenkeel/runtime";
import { FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { ObjectReconciles } from "./object-reconciles.ts";
import type { ObjectContext, Reconciler } from "./reconciler.ts";

const name = { namespace: "shop", name: "a" };
const object = (change: Partial<ConfigMap["metadata"]> = {}, level = "1"): ConfigMap => ({
  metadata: { ...name, uid: "first", generation: 1, ...change },
  data: { level },
});

interface Stage {
  readonly store: Store<ConfigMap>;
  readonly term: AbortController;
  readonly deadline: AbortController;
}

/** Reconciles the stored object with `reconcile`; gives what was written and what was forgotten. */
function build(reconcile: (context: ObjectContext, stage: Stage) => Promise<unknown> = () => Promise.resolve()) {
  const store = new Store<ConfigMap>({ log: silentLog() });
  const stage = {
    ...{ store, term: new AbortController(), deadline: new AbortController(), clock: new FakeClock() },
    beforeRetry: undefined as (() => void) | undefined,
    /** What the reconciler does when it is told of a failure. */
    failed: undefined as ((signal: AbortSignal) => Promise<void>) | undefined,
  };
  const calls: string[] = [];
  const warnings: string[] = [];
  /** With `beforeRetry` it sends twice, as a client does whose first attempt was refused. */
  const write =
    (verb: string) =>
    async (...call: readonly unknown[]) => {
      const { beforeSend } = (call.at(-1) ?? {}) as CallOptions;
      beforeSend?.();
      calls.push(verb);
      if (stage.beforeRetry) {
        stage.beforeRetry();
        beforeSend?.();
        calls.push(verb);
      }
      return Promise.resolve<never>(undefined as never);
    };
  const part = { get: write("read"), replace: write("replace"), patch: write("patch"), apply: write("apply") };
  const resource: Resource<ConfigMap> = {
    ...part,
    list: write("read"),
    pages: () => [] as never,
    watch: () => [] as never,
    create: write("create"),
    delete: write("delete"),
    status: part,
    scale: part,
  };
  const reconciler: Reconciler<ConfigMap> = {
    reconcile: async (_object, context) => {
      await reconcile(context, stage);
      return undefined;
    },
    failed: async ({ metadata }, error, { signal }) => {
      calls.push(`failed ${metadata.uid}: ${explain(error)}`);
      await stage.failed?.(signal);
    },
    forget: ({ name: gone }, uid) => void calls.push(`forget ${gone} ${uid}`),
    deadline: ({ data }) => Number(data?.["level"]) * 1000,
    endTerm: () => void calls.push("end"),
  };
  const reconciles = new ObjectReconciles({
    store,
    reconciler,
    forget: () => calls.push("frame forgets"),
    clock: stage.clock,
  });
  const term = termUntil(stage.term.signal, 1n);
  const destination = { write: (line: string) => warnings.push(line) };
  const log = createLogger({ service: "test", level: "warn", secrets: [], destination });
  const context: ReconcileContext = { signal: stage.deadline.signal, term, log, id: "1" };
  return { stage, ...stage, resource, calls, warnings, reconciles, run: () => reconciles.reconcile(name, context) };
}

const writes = {
  create: (resource: Resource<ConfigMap>) => resource.create(object()),
  replace: (resource: Resource<ConfigMap>) => resource.replace(object()),
  patch: (resource: Resource<ConfigMap>) => resource.patch(name, { type: "merge", body: {} }),
  apply: (resource: Resource<ConfigMap>) => resource.apply(object(), { fieldManager: "test" }),
  delete: (resource: Resource<ConfigMap>) => resource.delete(name),
  "status.patch": (resource: Resource<ConfigMap>) => resource.status.patch(name, { type: "merge", body: {} }),
  "scale.patch": (resource: Resource<ConfigMap>) => resource.scale.patch(name, { type: "merge", body: {} }),
};

test.each(Object.entries(writes))(
  "%s of a checked resource is carried out while nothing has changed",
  async (verb, write) => {
    const stage = build(({ checked }) => write(checked(stage.resource)));
    stage.store.put(object());
    await stage.run();
    expect(stage.calls).toEqual([verb.split(".").at(-1)]);
  },
);

test.each(Object.entries(writes))(
  "%s of a checked resource does not happen once the object has changed",
  async (_verb, write) => {
    const stage = build(({ checked }, { store }) => {
      store.put(object({ generation: 2 }));
      return write(checked(stage.resource));
    });
    stage.store.put(object());
    await expect(stage.run()).rejects.toMatchObject({ code: "EK_KUBE_ACT_OVERTAKEN" });
    expect(stage.calls).toEqual([]);
  },
);

test.each(Object.entries(writes))(
  "%s of a checked resource is not sent again once the object was paused",
  async (verb, write) => {
    const built = build(({ checked }) => write(checked(built.resource)));
    built.store.put(object());
    built.stage.beforeRetry = () => built.store.put(object({ annotations: { "evenkeel.io/paused": "true" } }));
    await expect(built.run()).rejects.toMatchObject({ code: "EK_KUBE_ACT_OVERTAKEN" });
    expect(built.calls).toEqual([verb.split(".").at(-1)]);
  },
);

test("a checked resource is read all the same", async () => {
  const stage = build(async ({ checked }, { store }) => {
    store.put(object({ generation: 2 }));
    await checked(stage.resource).get(name);
    await checked(stage.resource).list();
  });
  stage.store.put(object());
  await stage.run();
  expect(stage.calls).toEqual(["read", "read"]);
});

test.each<[string, (stage: Stage) => void]>([
  ["is gone", ({ store }) => store.remove(object())],
  ["is another", ({ store }) => store.put(object({ uid: "second" }))],
  ["is paused", ({ store }) => store.put(object({ annotations: { "evenkeel.io/paused": "true" } }))],
  ["is being deleted", ({ store }) => store.put(object({ deletionTimestamp: "2026-01-01T00:00:00Z" }))],
  ["is another leader's", ({ term }) => term.abort()],
])("the last look throws once the object %s", async (_what, happen) => {
  const stage = build(({ lastLook }, world) => {
    lastLook();
    happen(world);
    lastLook();
    return Promise.resolve();
  });
  stage.store.put(object());
  await expect(stage.run()).rejects.toMatchObject({ code: "EK_KUBE_ACT_OVERTAKEN" });
});

test("the deadline is the reconciler's, by the object", () => {
  const { store, reconciles } = build();
  expect(reconciles.deadline(name)).toBe(60_000);
  store.put(object({}, "7"));
  expect(reconciles.deadline(name)).toBe(7000);
});

test("an object that is gone is forgotten once, by its uid, and so is one that was replaced", async () => {
  const { store, calls, run } = build();
  store.put(object());
  await run();
  store.put(object({ uid: "second" }));
  await run();
  store.remove(object());
  await run();
  await run();
  expect(calls).toEqual(["frame forgets", "forget a first", "frame forgets", "forget a second"]);
});

test("an object that was never reconciled is not forgotten, nor one of a former term", async () => {
  const { store, calls, run, reconciles } = build();
  await run();
  store.put(object());
  await run();
  reconciles.endTerm();
  store.remove(object());
  await run();
  expect(calls).toEqual(["end"]);
});

test("a reconciler is told once of each reconcile that fails", async () => {
  const refused = new Error("refused");
  const { store, calls, run } = build(() => Promise.reject(refused));
  store.put(object());
  await expect(run()).rejects.toBe(refused);
  expect(calls).toEqual(["failed first: refused"]);
});

test("it is not told of an act that was overtaken, nor of what the end of the term broke off", async () => {
  const overtaken = build(({ lastLook }, { store }) => {
    store.put(object({ generation: 2 }));
    lastLook();
    return Promise.resolve();
  });
  overtaken.store.put(object());
  await expect(overtaken.run()).rejects.toMatchObject({ code: "EK_KUBE_ACT_OVERTAKEN" });
  const ended = build((_context, { term }) => {
    term.abort();
    return Promise.reject(new Error("aborted"));
  });
  ended.store.put(object());
  await expect(ended.run()).rejects.toThrow("aborted");
  expect([overtaken.calls, ended.calls]).toEqual([[], []]);
});

test("of a reconcile that ran into its deadline it is told the deadline, and has a signal that is not aborted", async () => {
  const built = build((_context, { deadline }) => {
    deadline.abort(new Error("took longer than 60000 ms"));
    return Promise.reject(new Error("This operation was aborted"));
  });
  const aborted: boolean[] = [];
  built.stage.failed = (signal) => Promise.resolve(void aborted.push(signal.aborted));
  built.store.put(object());
  await expect(built.run()).rejects.toThrow("This operation was aborted");
  expect(built.calls).toEqual(["failed first: took longer than 60000 ms"]);
  expect(aborted).toEqual([false]);
});

test.each<[string, (signal: AbortSignal) => Promise<void>]>([
  ["rejects", () => Promise.reject(new Error("no status"))],
  ["hangs", () => new Promise(() => undefined)],
])("a reconciler that %s when it is told of a failure does not hide the failure", async (_what, failed) => {
  const built = build(() => Promise.reject(new Error("refused")));
  built.stage.failed = failed;
  built.store.put(object());
  const run = expect(built.run()).rejects.toThrow("refused");
  await built.clock.advance(30_000);
  await run;
  expect(built.warnings).toHaveLength(1);
});
