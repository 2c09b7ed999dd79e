import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { KubeObject } from "../objects/object.ts";
import { keyOf } from "../objects/object-key.ts";
import { type Change, Store } from "./store.ts";
import { captureLog } from "../testing/captured-log.ts";

interface Pod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
}

const pod = (name: string, version: number, node = "a", uid = `uid-${name}`): Pod => ({
  metadata: { namespace: "shop", name, uid, resourceVersion: String(version) },
  spec: { nodeName: node },
});

function newStore() {
  const { log, lines } = captureLog();
  const store = new Store<Pod, "node">({
    log,
    indexes: { node: ({ spec }) => (spec?.nodeName === undefined ? [] : [spec.nodeName]) },
  });
  const changes: string[] = [];
  const describe = (change: Change<Pod>) => `${change.type} ${change.key}${change.relisted ? " relisted" : ""}`;
  const relist = (...pods: readonly Pod[]) => {
    const draft = store.draft();
    for (const each of pods) draft.put(each);
    return [...store.replace(draft)];
  };
  return { store, lines, changes, relist, record: (change: Change<Pod>) => void changes.push(describe(change)) };
}

describe("a store", () => {
  test("drops managedFields", () => {
    const { store } = newStore();
    store.put({ ...pod("web", 1), metadata: { ...pod("web", 1).metadata, managedFields: [{ manager: "kubectl" }] } });
    expect(store.get("shop/web")).toEqual(pod("web", 1));
  });

  test("reports adds, updates and deletes with the old and the new object", () => {
    const { store } = newStore();
    const changes: Change<Pod>[] = [];
    store.subscribe((change) => void changes.push(change));
    store.put(pod("web", 1));
    store.put(pod("web", 2));
    store.remove(pod("web", 3));
    store.remove(pod("web", 3));
    expect(changes).toEqual([
      { type: "added", key: "shop/web", object: pod("web", 1), relisted: false },
      { type: "updated", key: "shop/web", old: pod("web", 1), object: pod("web", 2), relisted: false },
      { type: "deleted", key: "shop/web", old: pod("web", 2), relisted: false },
    ]);
  });

  test("reports an object with the same name and another uid as a delete and an add", () => {
    const { store, changes, record } = newStore();
    store.subscribe(record);
    store.put(pod("web", 1));
    store.put(pod("web", 9, "a", "another"));
    expect(changes).toEqual(["added shop/web", "deleted shop/web", "added shop/web"]);
  });

  test("calls the other subscribers when one throws, and logs the error with the object", () => {
    const { store, lines, changes, record } = newStore();
    store.subscribe(() => {
      throw new Error("boom");
    });
    store.subscribe(record);
    store.put(pod("web", 1));
    expect(changes).toEqual(["added shop/web"]);
    expect(lines).toMatchObject([{ level: "error", object: "shop/web", error: { message: "boom" } }]);
  });

  test("reports every object to a late subscriber, and nothing after its end", () => {
    const { store, changes, record } = newStore();
    store.put(pod("web", 1));
    const end = store.subscribe(record);
    end();
    store.put(pod("api", 2));
    expect(changes).toEqual(["added shop/web relisted"]);
  });

  test("finds objects by an index through moves and deletes", () => {
    const { store } = newStore();
    store.put(pod("web", 1, "a"));
    store.put(pod("api", 2, "a"));
    store.put(pod("web", 3, "b"));
    expect([...store.by("node", "a")].map(keyOf)).toEqual(["shop/api"]);
    expect([...store.by("node", "b")].map(keyOf)).toEqual(["shop/web"]);
    store.remove(pod("api", 4));
    expect([...store.valuesOf("node")]).toEqual(["b"]);
    expect([...store.by("node", "nowhere")]).toEqual([]);
  });
});

describe("a store whose content is replaced", () => {
  test("shows nothing of a draft before it is in place, then all of it", async () => {
    const { store } = newStore();
    const draft = store.draft();
    draft.put(pod("web", 1));
    expect([store.size, store.hasSynced, [...store.by("node", "a")]]).toEqual([0, false, []]);
    const synced = store.whenSynced(new AbortController().signal);
    expect([...store.replace(draft)]).toHaveLength(1);
    expect([store.size, store.hasSynced, [...store.by("node", "a")].length]).toEqual([1, true, 1]);
    await synced;
  });

  test("reports only what differs, including deletes", () => {
    const { store, changes, relist, record } = newStore();
    relist(pod("same", 1), pod("changed", 2), pod("gone", 3));
    store.subscribe(record);
    changes.length = 0;
    const kept = store.get("shop/same");
    relist(pod("same", 1), pod("changed", 4), pod("new", 5));
    expect(changes).toEqual(["deleted shop/gone relisted", "updated shop/changed relisted", "added shop/new relisted"]);
    expect(store.get("shop/same")).toBe(kept);
  });

  test("reports each object once to a subscriber that comes during the replacement", () => {
    const { store, changes, record } = newStore();
    const draft = store.draft();
    for (const name of ["a", "b", "c"]) draft.put(pod(name, 1));
    const telling = store.replace(draft);
    telling.next();
    store.subscribe(record);
    Array.from(telling);
    expect(changes).toEqual(["added shop/a relisted", "added shop/b relisted", "added shop/c relisted"]);
  });

  test("rejects a wait for the first list when the signal aborts", async () => {
    const { store } = newStore();
    const ending = new AbortController();
    const synced = store.whenSynced(ending.signal);
    ending.abort(new Error("stopping"));
    await expect(synced).rejects.toThrow("stopping");
  });
});

test("indexes always contain what a scan finds", () => {
  const name = fc.constantFrom("a", "b", "c", "d");
  const step = fc.oneof(
    fc.record({ do: fc.constant("put" as const), name, node: fc.constantFrom("x", "y", "z") }),
    fc.record({ do: fc.constant("remove" as const), name }),
    fc.record({
      do: fc.constant("relist" as const),
      names: fc.uniqueArray(name),
      node: fc.constantFrom("x", "y", "z"),
    }),
  );
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const { store, relist } = newStore();
      steps.forEach((next, version) => {
        if (next.do === "put") store.put(pod(next.name, version, next.node));
        else if (next.do === "remove") store.remove(pod(next.name, version));
        else relist(...next.names.map((each) => pod(each, version, next.node)));
      });
      for (const node of ["x", "y", "z"]) {
        const scanned = [...store.values()].filter(({ spec }) => spec?.nodeName === node).map(keyOf);
        expect([...store.by("node", node)].map(keyOf).sort()).toEqual(scanned.sort());
      }
    }),
  );
});
