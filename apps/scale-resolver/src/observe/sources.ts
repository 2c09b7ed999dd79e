import { keyOf, type EndpointSlice, type KeySource, type ReadStore, type Service } from "@evenkeel/kube";
import type { Pods } from "../decide/snapshot.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { type Bindings, namedService } from "./bindings.ts";
import { SERVICE_NAME } from "./slice-labels.ts";

type Watched<T extends StoredElastiService | Service | EndpointSlice> = Pick<ReadStore<T>, "whenSynced" | "subscribe">;

export interface WatchedServices {
  readonly bindings: Pick<Bindings, "ownerOf">;
  readonly services: Watched<Service>;
  readonly slices: Watched<EndpointSlice>;
  readonly pods: (service: string) => Pods | null;
}

/**
 * The ElastiServices of Services whose pods or ports changed. While requests that waited are being handed over (`busy`), pods are left
 * to them: whoever watches the requests names the key when the last has gone. That the last ready pod goes cannot wait for it.
 */
export function serviceChanges(
  { bindings, services, slices, pods }: WatchedServices,
  busy: (service: string) => boolean,
): readonly KeySource[] {
  const isLeft = (service: string) => busy(service) && pods(service)?.ready !== 0;
  const of = <T extends Service | EndpointSlice>(store: Watched<T>, serviceOf: (object: T) => string): KeySource => ({
    whenSynced: (signal) => store.whenSynced(signal),
    subscribe: (enqueue) =>
      store.subscribe((change) => {
        const service = serviceOf(change.type === "deleted" ? change.old : change.object);
        const owner = bindings.ownerOf(service);
        if (owner && !isLeft(service)) enqueue(keyOf(owner), change.relisted ? "low" : "normal");
      }),
  });
  return [
    of(services, keyOf),
    of(slices, ({ metadata }) => `${metadata.namespace ?? ""}/${metadata.labels?.[SERVICE_NAME] ?? ""}`),
  ];
}

/** The other ElastiServices of a Service when one comes, goes or is edited: who looks after the Service may have changed. */
export function rivalChanges(
  objects: Pick<ReadStore<StoredElastiService, "service">, "whenSynced" | "subscribe" | "by">,
): KeySource {
  return {
    whenSynced: (signal) => objects.whenSynced(signal),
    subscribe: (enqueue) =>
      objects.subscribe((change) => {
        const before = change.type === "added" ? undefined : change.old;
        const after = change.type === "deleted" ? undefined : change.object;
        if (before?.metadata.generation === after?.metadata.generation) return;
        const services = [before, after].flatMap((object) => (object ? namedService(object) : []));
        const rivals = services.flatMap((service) => [...objects.by("service", service)].map(keyOf));
        for (const key of new Set(rivals)) if (key !== change.key) enqueue(key, "normal");
      }),
  };
}

/** Every ElastiService in whose path the resolver may be, when its replicas change. */
export function resolverChanges(
  objects: Pick<ReadStore<StoredElastiService>, "values">,
  ownSlices: Watched<EndpointSlice>,
): KeySource {
  return {
    whenSynced: (signal) => ownSlices.whenSynced(signal),
    subscribe: (enqueue) =>
      ownSlices.subscribe(() => {
        for (const object of objects.values()) {
          if ((object.status?.state ?? "Serve") !== "Serve") enqueue(keyOf(object), "normal");
        }
      }),
  };
}

/** Keys that something in this process asks to look at. */
export class Nudges implements KeySource {
  readonly #listeners = new Set<(key: string) => void>();

  nudge(key: string): void {
    for (const listener of this.#listeners) listener(key);
  }

  whenSynced(): Promise<void> {
    return Promise.resolve();
  }

  subscribe(enqueue: (key: string, priority: "normal") => void): () => void {
    const listener = (key: string) => enqueue(key, "normal");
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
