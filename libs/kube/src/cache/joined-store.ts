import type { KubeObject } from "../objects/object.ts";
import type { ReadStore, Subscriber } from "./store.ts";

/**
 * Several stores as one, for a service that watches some namespaces and may not list the others. The stores must not
 * share keys, which is so with one store per namespace.
 */
export function joinStores<T extends KubeObject, Index extends string = never>(
  stores: readonly ReadStore<T, Index>[],
): ReadStore<T, Index> {
  return {
    get size() {
      return stores.reduce((sum, store) => sum + store.size, 0);
    },
    get hasSynced() {
      return stores.every((store) => store.hasSynced);
    },
    whenSynced: async (signal) => {
      await Promise.all(stores.map((store) => store.whenSynced(signal)));
    },
    get: (key) => stores.map((store) => store.get(key)).find((object) => object !== undefined),
    *values() {
      for (const store of stores) yield* store.values();
    },
    *by(index, value) {
      for (const store of stores) yield* store.by(index, value);
    },
    *valuesOf(index) {
      yield* new Set(stores.flatMap((store) => [...store.valuesOf(index)]));
    },
    subscribe: (subscriber: Subscriber<T>) => {
      const ends = stores.map((store) => store.subscribe(subscriber));
      return () => {
        for (const end of ends) end();
      };
    },
  };
}
