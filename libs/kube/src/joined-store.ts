import type { KubeObject } from "./object.ts";
import type { ReadStore, Subscriber } from "./store.ts";

/**
 * Several stores as one, for a service that watches some namespaces and may not list the others. The stores must not share keys; one
 * a namespace never do.
 */
export function joinStores<T extends KubeObject>(stores: readonly ReadStore<T>[]): ReadStore<T> {
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
    *by() {
      // No index is common to stores that were made apart.
    },
    *valuesOf() {
      // As above.
    },
    subscribe: (subscriber: Subscriber<T>) => {
      const ends = stores.map((store) => store.subscribe(subscriber));
      return () => {
        for (const end of ends) end();
      };
    },
  };
}
