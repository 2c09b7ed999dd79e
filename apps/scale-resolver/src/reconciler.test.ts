import type { ElastiServiceStatus } from "@evenkeel/api";
import type { Nulled } from "@evenkeel/kube";
import type { ObjectContext } from "@evenkeel/operator";
import type { ObjectRef } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import { FINALIZER, type StoredElastiService } from "./elasti-service-resource.ts";
import { Memories } from "./observe/stages.ts";
import { ElastiServiceReconciler, type ElastiServiceReconcilerOptions } from "./reconciler.ts";
import { checkout, NOON } from "./testing/quiet-service.ts";
import { stored } from "./testing/shown-service.ts";

type Next = Nulled<ElastiServiceStatus>;

/** One reconciler, what it writes and what it forgets. */
function setUp(options: object = {}) {
  const written: Next[] = [];
  const forgotten: ObjectRef[] = [];
  const nothing = () => undefined;
  // Whatever else is called is not there.
  const reconciler = new ElastiServiceReconciler({
    view: {
      bindings: { understand: () => ({ kind: "service", binding: checkout }), ownerOf: nothing },
      services: { get: nothing },
    },
    releaseService: { release: () => Promise.resolve(true), forgetAll: nothing },
    memories: new Memories(),
    targets: { forget: nothing, clear: nothing },
    ports: { forget: nothing, endTerm: nothing },
    board: { remove: nothing },
    decisions: { forget: (object: ObjectRef) => forgotten.push(object) },
    statuses: {
      write: ({ status }: StoredElastiService, next: Next | ((present: Next | undefined) => Next)) => {
        written.push(typeof next === "function" ? next(status) : next);
        return Promise.resolve();
      },
    },
    clock: new FakeClock(NOON),
    ...options,
  } as unknown as ElastiServiceReconcilerOptions);
  const [deadline, term] = [new AbortController(), new AbortController()];
  const context = { signal: deadline.signal, term: { signal: term.signal } } as unknown as ObjectContext;
  return { reconciler, written, forgotten, deadline, term, context };
}

const moved = stored("checkout", { status: { service: "basket", scaleTargetRef: checkout.target } });

test("an object that is pointed at another Service: the next decision about it is news", async () => {
  const { reconciler, forgotten, written, context } = setUp();
  await reconciler.reconcile(moved, context);
  expect(written).toMatchObject([{ service: "checkout" }]);
  expect(forgotten).toEqual([{ kind: "ElastiService", namespace: "shop", name: "checkout" }]);
});

test("at the end of a term it is forgotten since when Services are released, and which ports they were assigned", () => {
  const forgot: string[] = [];
  const { reconciler } = setUp({
    releaseService: { forgetAll: () => forgot.push("releases") },
    ports: { endTerm: () => forgot.push("ports") },
  });
  reconciler.endTerm();
  expect(forgot.toSorted()).toEqual(["ports", "releases"]);
});

describe("a reconcile that fails", () => {
  const hung = new Error("GET /scale took longer than 10 s");
  const ready = { type: "Ready", status: "False", reason: "Failed", message: expect.stringContaining("GET /scale") };
  const late = new Error("the reconcile took longer than 60 s");

  test("at its deadline says in the status which call did not return, with what the status has", async () => {
    const { reconciler, written, context } = setUp({ releaseService: { release: () => Promise.reject(hung) } });
    await expect(reconciler.reconcile(moved, context)).rejects.toBe(hung);
    expect(written).toEqual([]);
    await reconciler.failed(moved, late, context);
    expect(written).toMatchObject([{ ...moved.status, conditions: [ready] }]);
  });

  test("because the release of a deleted object or its finalizer is refused says so in the status", async () => {
    const deleted = { ...moved, metadata: { ...moved.metadata, deletionTimestamp: NOON } };
    const { reconciler, written, context } = setUp({ releaseService: { finalize: () => Promise.reject(hung) } });
    await expect(reconciler.reconcile(deleted, context)).rejects.toBe(hung);
    await reconciler.failed(deleted, hung, context);

    const refused = setUp({
      view: {
        bindings: { understand: () => ({ kind: "service", binding: checkout }), ownerOf: () => undefined },
        services: { get: () => ({ metadata: { name: "checkout" } }) },
      },
      elastiServices: { patch: () => Promise.reject(hung) },
    });
    const fresh = stored("checkout");
    await expect(refused.reconciler.reconcile(fresh, refused.context)).rejects.toBe(hung);
    await refused.reconciler.failed(fresh, hung, refused.context);
    expect([...written, ...refused.written]).toMatchObject([{ conditions: [ready] }, { conditions: [ready] }]);
  });
});

test("the path of a redirected Service follows the resolver's replicas before triggers are read, even if that fails", async () => {
  const order: string[] = [];
  const stop = new Error("as far as this test goes");
  const service = { metadata: { namespace: "shop", name: "checkout" }, spec: { ports: [{ name: "http", port: 80 }] } };
  const object = stored("checkout", {
    metadata: { namespace: "shop", name: "checkout", uid: "5a0e", finalizers: [FINALIZER] },
    status: { service: "checkout", ports: [{ name: "http", port: 20_000 }], scaleTargetRef: checkout.target },
  });
  const run = async (joined: boolean, original?: string) => {
    order.length = 0;
    const { reconciler, context } = setUp({
      view: {
        bindings: { understand: () => ({ kind: "service", binding: checkout }), ownerOf: () => object },
        services: { get: () => service },
        pods: () => null,
      },
      original: () => Promise.resolve(original),
      ports: { allocate: () => [{ name: "http", port: 20_000 }] },
      path: { useOf: () => (joined ? "redirect" : "standby") },
      targets: { known: () => ({}), read: () => Promise.resolve({}) },
      executor: { updatePath: () => (order.push("update path"), Promise.reject(new Error("refused"))) },
      observer: { observe: () => (order.push("observe"), Promise.reject(stop)) },
    });
    const log = { info: () => undefined, warn: () => undefined };
    await expect(reconciler.reconcile(object, { ...context, log } as unknown as ObjectContext)).rejects.toBe(stop);
    return [...order];
  };
  expect(await run(true)).toEqual(["update path", "observe"]);
  expect(await run(false)).toEqual(["observe"]);
  // An administrator who returns to the original deletes the slices.
  expect(await run(true, "it runs")).toEqual(["observe"]);
});
