import type { EndpointSlice, ReadStore, Service } from "@evenkeel/kube";
import type { Component, Logger } from "@evenkeel/runtime";
import { type Binding, serviceKey } from "./binding.ts";
import type { PortRecord, StoredElastiService } from "./elasti-service-resource.ts";
import { namedService, type Bindings } from "./observe/bindings.ts";
import { serviceEndpoints } from "./observe/service-endpoints.ts";
import type { Gate } from "./serve/gate/gate.ts";
import type { GateRoute } from "./serve/gate/gate-route.ts";

export interface FeederOptions {
  readonly objects: ReadStore<StoredElastiService, "service">;
  readonly services: ReadStore<Service>;
  readonly slices: ReadStore<EndpointSlice, "service">;
  readonly bindings: Bindings;
  readonly gate: Pick<Gate, "put" | "remove" | "endpoints">;
  /** Hears of each Service that has a ready pod. */
  readonly ready: (key: string) => void;
  readonly log: Logger;
}

/** Tells the gate of every Service that is looked after, on each replica, as the cluster changes. */
export class Feeder implements Component {
  readonly name = "feeder";
  readonly #options: FeederOptions;
  readonly #ends: (() => void)[] = [];
  /** The Services that the gate knows, each with what it is busy with. */
  readonly #known = new Map<string, Promise<void>>();

  constructor(options: FeederOptions) {
    this.#options = options;
  }

  start(): void {
    const { objects, services, slices } = this.#options;
    this.#ends.push(
      objects.subscribe((change) => {
        const touched = [
          ...(change.type === "added" ? [] : namedService(change.old)),
          ...(change.type === "deleted" ? [] : namedService(change.object)),
        ];
        for (const key of new Set(touched)) this.#feed(key);
      }),
      services.subscribe(({ key }) => this.#feed(key)),
      slices.subscribe((change) => {
        const touched = change.type === "deleted" ? [change.old] : [change.object];
        for (const key of touched.flatMap(slicedService)) if (this.#known.has(key)) this.#tellEndpoints(key);
      }),
    );
  }

  async stop(): Promise<void> {
    for (const end of this.#ends) end();
    await Promise.all(this.#known.values());
  }

  #feed(key: string): void {
    const { bindings, services, gate } = this.#options;
    const owner = bindings.ownerOf(key);
    const service = services.get(key);
    const understood = owner && bindings.understand(owner);
    if (understood?.kind !== "service" || !service) {
      if (this.#known.has(key)) this.#after(key, () => gate.remove(key), true);
      return;
    }
    const route = routeOf(understood.binding, service, owner?.status?.ports ?? []);
    this.#after(key, () => gate.put(route), false);
    this.#tellEndpoints(key);
  }

  /** What concerns one Service is done in order. */
  #after(key: string, task: () => Promise<void>, last: boolean): void {
    const { log } = this.#options;
    const run = (this.#known.get(key) ?? Promise.resolve()).then(task).catch((error: unknown) => {
      log.warn({ error, service: key }, "the gate did not take a change");
    });
    this.#known.set(key, run);
    if (last) void run.then(() => this.#known.get(key) === run && this.#known.delete(key));
  }

  #tellEndpoints(key: string): void {
    const { gate, slices, ready } = this.#options;
    const endpoints = serviceEndpoints(slices.by("service", key));
    if (endpoints.some((endpoint) => endpoint.ready)) ready(key);
    gate.endpoints(key, endpoints);
  }
}

/** The index `service` of a store of EndpointSlices. */
export function slicedService({ metadata }: EndpointSlice): readonly string[] {
  const service = metadata.labels?.["kubernetes.io/service-name"];
  return service === undefined ? [] : [serviceKey(metadata.namespace ?? "", service)];
}

/** How the gate is to treat the requests of a Service. */
export function routeOf(binding: Binding, service: Service, given: readonly PortRecord[]): GateRoute {
  const address = service.spec?.clusterIP ?? "";
  return {
    key: serviceKey(binding.namespace, binding.service),
    namespace: binding.namespace,
    service: binding.service,
    ports: (service.spec?.ports ?? [])
      .filter(({ protocol = "TCP" }) => protocol === "TCP")
      .map(({ name = "", port }) => ({
        name,
        port,
        listen: given.find((record) => record.name === name)?.port ?? null,
      })),
    hold: binding.hold,
    probes: binding.probes,
    dial: binding.dial,
    clusterAddress: address === "" || address === "None" ? null : address,
  };
}
