import { type ConfigMap, Store } from "@evenkeel/kube";
import { FakeHost } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { ObjectBoard } from "./object-board.ts";

const object = (name: string, uid = `uid of ${name}`): ConfigMap => ({ metadata: { namespace: "shop", name, uid } });

function build(...objects: readonly ConfigMap[]) {
  const store = new Store<ConfigMap>({ log: new FakeHost().log() });
  for (const each of objects) store.put(each);
  const board = new ObjectBoard<ConfigMap, number, string>({
    store,
    view: ({ metadata }, shown) => `${metadata.name ?? ""} at ${shown ?? "unknown"}`,
  });
  const told: string[] = [];
  const unsubscribe = board.subscribe((key) => void told.push(key));
  return { store, board, told, unsubscribe };
}

test("shows the stored object alone until a reconcile shows more", () => {
  const { board } = build(object("a"), object("b"));
  expect(board.keys()).toEqual(["shop/a", "shop/b"]);
  board.show(object("a"), 7);
  expect(["shop/a", "shop/b", "shop/c"].map((key) => board.get(key))).toEqual(["a at 7", "b at unknown", undefined]);
  expect(["shop/a", "shop/b"].map((key) => board.shown(key))).toEqual([7, undefined]);
});

test("tells of each object that is stored, shown or deleted, until the reader leaves", () => {
  const { store, board, told, unsubscribe } = build();
  store.put(object("a"));
  board.show(object("a"), 7);
  store.remove(object("a"));
  expect(told).toEqual(["shop/a", "shop/a", "shop/a"]);
  unsubscribe();
  store.put(object("a"));
  expect(told).toHaveLength(3);
});

test("shows nothing of a former object of the same name", () => {
  const { store, board } = build(object("a", "first"));
  board.show(object("a", "first"), 7);
  store.put(object("a", "second"));
  expect(board.get("shop/a")).toBe("a at unknown");

  board.show(object("a", "second"), 8);
  store.remove(object("a", "second"));
  store.put(object("a", "second"));
  expect(board.get("shop/a")).toBe("a at unknown");
});

test("forgets what was shown when it is cleared, and tells of it", () => {
  const { board, told } = build(object("a"), object("b"));
  board.show(object("a"), 7);
  told.length = 0;
  board.clear();
  expect(board.get("shop/a")).toBe("a at unknown");
  expect(told).toEqual(["shop/a"]);
});
