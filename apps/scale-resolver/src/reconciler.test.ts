import type { ElastiServiceStatus } from "@evenkeel/api";
import type { Nulled } from "@evenkeel/kube";
import type { ObjectContext } from "@evenkeel/operator";
import type { ObjectRef } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { FINALIZER, type StoredElastiService } from "./elasti-service-resource.ts";
import { Memories } from "./observe/stages.ts";
import { ElastiServiceReconciler, type ElastiServiceReconcilerOptions } from "./reconciler.ts";
import { checkout, NOON } from "./testing/quiet-service.ts";
import { stored } from "./testing/shown-service.ts";

/** One reconciler, what it writes and what it forgets. */
function setUp(options: object = {}) {
  const written: Nulled<ElastiServiceStatus>[] = [];
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
      write: (_: StoredElastiService, status: Nulled<ElastiServiceStatus>) => {
        written.push(status);
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

test("a reconcile that hangs until its deadline says so in the status; one that the term ends does not", async () => {
  const hung = new Error("GET /scale took longer than 10 s");
  const { reconciler, written, deadline, term, context } = setUp({
    releaseService: { release: () => Promise.reject(hung) },
  });
  await expect(reconciler.reconcile(moved, context)).rejects.toBe(hung);
  expect(written).toEqual([]);

  deadline.abort();
  await expect(reconciler.reconcile(moved, context)).rejects.toBe(hung);
  const ready = { type: "Ready", status: "False", reason: "Failed", message: expect.stringContaining("GET /scale") };
  expect(written).toMatchObject([{ conditions: [ready] }]);

  term.abort();
  await expect(reconciler.reconcile(moved, context)).rejects.toBe(hung);
  expect(written).toHaveLength(1);
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
      path: { isJoined: () => joined },
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
