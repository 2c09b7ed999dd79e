import { type CallOptions, type ConfigMap, type ReconcileContext, type Resource, Store } from "@evenkeel/kube";
import { termUntil } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";
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
}

/** Reconciles the stored object with `reconcile`; gives what was written and what was forgotten. */
function build(reconcile: (context: ObjectContext, stage: Stage) => Promise<unknown> = () => Promise.resolve()) {
  const store = new Store<ConfigMap>({ log: silentLog() });
  const stage = { store, term: new AbortController(), beforeRetry: undefined as (() => void) | undefined };
  const calls: string[] = [];
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
    forget: ({ name: gone }, uid) => void calls.push(`forget ${gone} ${uid}`),
    deadline: ({ data }) => Number(data?.["level"]) * 1000,
    endTerm: () => void calls.push("end"),
  };
  const reconciles = new ObjectReconciles({ store, reconciler, forget: () => calls.push("frame forgets") });
  const signal = new AbortController().signal;
  const term = termUntil(stage.term.signal, 1n);
  const context: ReconcileContext = { signal, term, log: silentLog(), id: "1" };
  return { stage, ...stage, resource, calls, reconciles, run: () => reconciles.reconcile(name, context) };
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
