import { expect, test } from "@jest/globals";
import { silentLog } from "@evenkeel/runtime/testing";
import { joinStores } from "./joined-store.ts";
import type { KubeObject } from "../objects/object.ts";
import { type Change, Store } from "./store.ts";

const log = silentLog();
const object = (namespace: string, name: string): KubeObject => ({ metadata: { namespace, name, uid: name } });

function build() {
  const [shop, bank] = [new Store<KubeObject>({ log }), new Store<KubeObject>({ log })];
  return { shop, bank, joined: joinStores([shop, bank]) };
}

test("joined stores show the objects of each", () => {
  const { shop, bank, joined } = build();
  shop.put(object("shop", "a"));
  bank.put(object("bank", "b"));
  expect(joined.size).toBe(2);
  expect(joined.get("bank/b")?.metadata.name).toBe("b");
  expect(joined.get("bank/a")).toBeUndefined();
  expect([...joined.values()].map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
});

test("joined stores are synced when each is", async () => {
  const { shop, bank, joined } = build();
  const synced = joined.whenSynced(new AbortController().signal);
  Array.from(shop.replace(shop.draft()));
  expect(joined.hasSynced).toBe(false);
  Array.from(bank.replace(bank.draft()));
  expect(joined.hasSynced).toBe(true);
  await synced;
});

test("joined stores report the changes of each until the subscription ends", () => {
  const { shop, bank, joined } = build();
  const told: string[] = [];
  const end = joined.subscribe((change: Change<KubeObject>) => void told.push(`${change.type} ${change.key}`));
  shop.put(object("shop", "a"));
  bank.put(object("bank", "b"));
  end();
  bank.remove(object("bank", "b"));
  expect(told).toEqual(["added shop/a", "added bank/b"]);
});

test("joined stores have the indexes that each has", () => {
  const make = () =>
    new Store<KubeObject, "initial">({ log, indexes: { initial: ({ metadata }) => [metadata.name?.[0] ?? ""] } });
  const [shop, bank] = [make(), make()];
  const joined = joinStores([shop, bank]);
  shop.put(object("shop", "apple"));
  bank.put(object("bank", "account"));
  bank.put(object("bank", "bill"));
  expect([...joined.by("initial", "a")].map(({ metadata }) => metadata.name)).toEqual(["apple", "account"]);
  expect([...joined.valuesOf("initial")]).toEqual(["a", "b"]);
});
