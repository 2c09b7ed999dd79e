import { expect, test } from "@jest/globals";
import { silentLog } from "@evenkeel/runtime/testing";
import type { KubeObject } from "../objects/object.ts";
import { specChanges } from "./spec-changes.ts";
import { Store } from "../cache/store.ts";

const log = silentLog();
const PAUSED = ["evenkeel.io/paused"];

interface Sample extends KubeObject {
  readonly status?: unknown;
}

const object: Sample = {
  metadata: { namespace: "shop", name: "checkout", uid: "1", resourceVersion: "1", generation: 1 },
};

/** The keys that are enqueued when the object changes like this. */
function toldOf(change: Partial<Sample["metadata"]>, status?: unknown): string[] {
  const store = new Store<Sample>({ log });
  store.put(object);
  const told: string[] = [];
  specChanges(store, PAUSED).subscribe((key) => void told.push(key));
  told.length = 0;
  const metadata = { ...object.metadata, resourceVersion: "2", ...change };
  store.put({ ...object, metadata, ...(status === undefined ? {} : { status }) });
  return told;
}

test.each([
  ["another spec", { generation: 2 }],
  ["a deletion that a finalizer holds up", { deletionTimestamp: "2026-01-01T00:00:00Z" }],
  ["a pause", { annotations: { "evenkeel.io/paused": "true" } }],
  ["another object of the name", { uid: "2" }],
])("%s leads to a reconcile", (_name, change) => {
  expect(new Set(toldOf(change))).toEqual(new Set(["shop/checkout"]));
});

test("a change of status, label or finalizer does not, because the controller writes them itself", () => {
  expect(toldOf({ labels: { a: "b" }, finalizers: ["evenkeel.io/revert-weight"] }, { condition: "Healty" })).toEqual(
    [],
  );
});

test("every object that is there at the start leads to a reconcile", () => {
  const store = new Store<Sample>({ log });
  store.put(object);
  const told: string[] = [];
  specChanges(store, PAUSED).subscribe((key, priority) => void told.push(`${key} ${priority}`));
  expect(told).toEqual(["shop/checkout low"]);
});
