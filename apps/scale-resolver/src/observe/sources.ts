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

/** Every ElastiService with the resolver in its path, when the resolver's replicas change. */
export function resolverChanges(
  objects: Pick<ReadStore<StoredElastiService>, "values">,
  ownSlices: Watched<EndpointSlice>,
): KeySource {
  return {
    whenSynced: (signal) => ownSlices.whenSynced(signal),
    subscribe: (enqueue) =>
      ownSlices.subscribe(() => {
        for (const key of inPath(objects)) enqueue(key, "normal");
      }),
  };
}

/** The keys of the ElastiServices with the resolver in their path. */
export function inPath(objects: Pick<ReadStore<StoredElastiService>, "values">): readonly string[] {
  return [...objects.values()].filter(({ status }) => (status?.state ?? "Serve") !== "Serve").map(keyOf);
}
