import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { StoredObject } from "../object.ts";
import { Store } from "./store.ts";

const object = (name: string, fields: object = {}): StoredObject => ({
  ...{ apiVersion: "v1", kind: "Thing", ...fields },
  metadata: { name, uid: `uid-${name}`, resourceVersion: "", creationTimestamp: "2026-01-01T00:00:00Z" },
});

describe("the store", () => {
  test("gives versions that rise across types", () => {
    const store = new Store({ history: 10 });
    const versions = ["a", "b", "a"].map((type) =>
      Number(store.put(store.table(type), object("x")).metadata.resourceVersion),
    );
    expect(versions).toEqual(versions.toSorted((one, other) => one - other));
    expect(new Set(versions).size).toBe(3);
  });

  test("tells any moment that it remembers as it was", () => {
    const steps = fc.array(fc.record({ name: fc.constantFrom("a", "b", "c"), remove: fc.boolean() }), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(steps, (all) => {
        const store = new Store({ history: 100 });
        const table = store.table("things");
        const moments = all.map(({ name, remove }, index) => {
          const there = table.get(name);
          if (!remove) store.put(table, object(name, { index }));
          else if (there !== undefined) store.remove(table, there);
          return { version: store.version, objects: table.objects() };
        });
        for (const { version, objects } of moments) expect(table.objectsAt(version)).toEqual(objects);
      }),
    );
  });

  test("forgets what is older than its memory", () => {
    const store = new Store({ history: 3 });
    const table = store.table("things");
    const start = store.version;
    for (let index = 0; index < 10; index++) store.put(table, object("a", { index }));
    expect(table.changesAfter(start)).toBeUndefined();
    expect(table.objectsAt(start)).toBeUndefined();
    expect(table.changesAfter(store.version - 3)).toHaveLength(3);
  });

  test("expires every version that was given out when it is compacted", () => {
    const store = new Store({ history: 10 });
    const table = store.table("things");
    store.put(table, object("a"));
    const { version } = store;
    store.compact();
    expect(table.objectsAt(version)).toBeUndefined();
    expect(table.objectsAt(store.version)).toHaveLength(1);
  });

  test("ends the watches of a type that goes, after the last of its objects", () => {
    const store = new Store({ history: 10 });
    const told: string[] = [];
    store.put(store.table("things"), object("a"));
    store.table("things").watch({ changed: ({ type }) => told.push(type), closed: () => told.push("closed") });
    store.drop("things");
    expect(told).toEqual(["DELETED", "closed"]);
  });
});
