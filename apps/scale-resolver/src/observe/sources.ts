import { keyOf, type EndpointSlice, type KeySource, type ReadStore, type Service } from "@evenkeel/kube";
import type { Pods } from "../decide/snapshot.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { type Bindings, namedService } from "./bindings.ts";
import { MANAGED_BY, MANAGER, SERVICE_NAME } from "./slice-labels.ts";

type Watched<T extends StoredElastiService | Service | EndpointSlice> = Pick<ReadStore<T>, "whenSynced" | "subscribe">;

export interface WatchedServices {
  readonly bindings: Pick<Bindings, "ownerOf">;
  readonly services: Watched<Service>;
  readonly slices: Watched<EndpointSlice>;
  readonly pods: (service: string) => Pods | null;
}

/**
 * The ElastiServices of Services whose pods or ports changed. While held requests of a Service are being forwarded
 * (`busy`), pod changes are not reported; the gateway reports the key after the last response. If the last ready pod
 * terminates, that is reported at once.
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
        const object = change.type === "deleted" ? change.old : change.object;
        const service = serviceOf(object);
        const owner = bindings.ownerOf(service);
        // The resolver's own slices change with its replicas, those of all Services at once.
        const isOwn = change.type === "updated" && object.metadata.labels?.[MANAGED_BY] === MANAGER;
        if (owner && !isLeft(service)) enqueue(keyOf(owner), change.relisted || isOwn ? "low" : "normal");
      }),
  });
  return [
    of(services, keyOf),
    of(slices, ({ metadata }) => `${metadata.namespace ?? ""}/${metadata.labels?.[SERVICE_NAME] ?? ""}`),
  ];
}

/**
 * The other ElastiServices of a Service when one is created, deleted or edited, because another one may manage the
 * Service now.
 */
export function ownershipChanges(
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

/** Reports that the resolver's replicas changed. */
export interface ReplicaChanges {
  readonly whenSynced: (signal: AbortSignal) => Promise<void>;
  readonly subscribe: (changed: () => void) => () => void;
}

/**
 * Every ElastiService when the resolver's replicas change, or only those that are `redirected` to it. Requests of these
 * may be waiting, so they come first.
 */
export function resolverChanges(
  objects: Pick<ReadStore<StoredElastiService>, "values">,
  changes: ReplicaChanges,
  which: "all" | "redirected",
): KeySource {
  return {
    whenSynced: (signal) => changes.whenSynced(signal),
    subscribe: (enqueue) =>
      changes.subscribe(() => {
        for (const object of objects.values()) {
          const isRedirected = (object.status?.state ?? "Serve") !== "Serve";
          if (isRedirected) enqueue(keyOf(object), "normal");
          else if (which === "all") enqueue(keyOf(object), "low");
        }
      }),
  };
}
