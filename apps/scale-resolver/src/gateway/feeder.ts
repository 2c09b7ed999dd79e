import type { Service } from "@evenkeel/kube";
import type { Clock, Component, Logger } from "@evenkeel/runtime";
import { type Binding, type HoldPolicy, serviceKey, type TargetRef } from "../binding.ts";
import type { PortRecord, StoredElastiService } from "../elasti-service-resource.ts";
import { namedService } from "../observe/bindings.ts";
import type { ClusterView } from "../observe/cluster-view.ts";
import { MANAGED_BY, MANAGER, SERVICE_NAME } from "../observe/slice-labels.ts";
import { SpecUnreadable } from "../serve/errors.ts";
import { tcpPorts, wakingPorts } from "../wake-ports.ts";
import type { Gate } from "./gate/gate.ts";
import type { GateRoute } from "./gate/gate-route.ts";
import { ProbeRules } from "./gate/probe-rules.ts";

export interface FeederOptions {
  readonly view: Pick<ClusterView, "objects" | "services" | "slices" | "bindings" | "binding" | "endpoints">;
  readonly gate: Pick<Gate, "put" | "remove" | "endpoints" | "activity">;
  /** Called for each Service with a ready pod. */
  readonly ready: (key: string) => void;
  /** Called for each Service that is not managed, possibly repeatedly. */
  readonly forgotten: (key: string) => void;
  /** Prepares the wake of a workload, so that the wake itself is fast. */
  readonly prepare: (target: TargetRef) => Promise<void>;
  readonly clock: Clock;
  /** Milliseconds that nodes need to follow EndpointSlices. */
  readonly settle: number;
  readonly log: Logger;
}

/**
 * Maximum milliseconds for which the ports of a released Service stay open: as long as they are not assigned to another
 * Service.
 */
const LONGEST_LINGER = 60_000;

/** Tells the gate of each managed Service and its changes, on each replica. */
export class Feeder implements Component {
  readonly name = "feeder";
  readonly #options: FeederOptions;
  readonly #ends: (() => void)[] = [];
  /** The Services that the gate knows, each with its last change. */
  readonly #known = new Map<string, Promise<void>>();
  /** Cancels the removal of a Service that is no longer redirected, by key. */
  readonly #lingering = new Map<string, () => void>();
  /** Removals of Services that wait for requests in flight. */
  readonly #closing = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #hasOpened = false;

  constructor(options: FeederOptions) {
    this.#options = options;
  }

  /** Resolves when the ports of all Services that are known by now are open. */
  async start(): Promise<void> {
    const { view } = this.#options;
    const { objects, services, slices } = view;
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
        const { metadata } = change.type === "deleted" ? change.old : change.object;
        const key = serviceKey(metadata.namespace ?? "", metadata.labels?.[SERVICE_NAME] ?? "");
        if (this.#known.has(key)) this.#tellEndpoints(key);
        if (!view.binding(key)) this.#feed(key);
      }),
    );
    void this.#openFirst().catch(() => undefined);
    await Promise.all(this.#known.values());
  }

  /** A ready replica gets the requests of Services at zero, so their ports must be open before it is ready. */
  unready(): string | undefined {
    return this.#hasOpened ? undefined : "the ports of the managed Services are not open yet";
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const end of [...this.#ends, ...this.#lingering.values()]) end();
    await Promise.all(this.#known.values());
    await Promise.all(this.#closing);
  }

  /** Rejects if this stops first. A port that another process uses does not delay it. */
  async #openFirst(): Promise<void> {
    const { objects, services, slices } = this.#options.view;
    await Promise.all([objects, services, slices].map((store) => store.whenSynced(this.#stopping.signal)));
    // A store reports the objects of its first list one after the other, and possibly later.
    for (const object of objects.values()) for (const key of namedService(object)) this.#feed(key);
    await Promise.all(this.#known.values());
    this.#hasOpened = true;
  }

  #feed(key: string): void {
    const { view, gate, prepare, forgotten } = this.#options;
    const binding = view.binding(key);
    const service = view.services.get(key);
    const broken = binding ? undefined : view.bindings.brokenOwnerOf(key);
    if (broken && service && this.#isInPath(key)) {
      this.#cancelRemoval(key);
      void this.#after(key, () => gate.put(refusingRoute(broken, service)));
      this.#tellEndpoints(key);
      return;
    }
    if (!binding) forgotten(key);
    if (!binding || !service) {
      if (!this.#known.has(key)) return;
      if (!service) this.#remove(key);
      else if (this.#isInPath(key)) this.#cancelRemoval(key);
      else this.#linger(key);
      return;
    }
    this.#cancelRemoval(key);
    // A failed discovery is repeated when the workload is woken.
    void prepare(binding.target).catch(() => undefined);
    const { service: of = binding.service, ports = [], route = null } = view.bindings.ownerOf(key)?.status ?? {};
    const given = of === binding.service ? ports : [];
    // A route that is no longer named is redirected until it is restored.
    const routed = { ...binding, route: binding.route ?? route };
    void this.#after(key, () => gate.put(routeOf(routed, service, given)));
    this.#tellEndpoints(key);
  }

  /** Requests may still arrive for a Service that is no longer managed. */
  #isInPath(key: string): boolean {
    const slices = this.#options.view.slices.by("service", key);
    return [...slices].some(({ metadata }) => metadata.labels?.[MANAGED_BY] === MANAGER);
  }

  /**
   * The ports of a Service stay open until no node sends requests there: a closed port refuses them. A node may need
   * longer than `settle` if it is busy, so each request that still arrives keeps them open for another `settle`.
   */
  #linger(key: string, until = this.#options.clock.monotonic() + LONGEST_LINGER): void {
    const { clock, settle, gate } = this.#options;
    if (this.#lingering.has(key)) return;
    const { requests } = gate.activity(key);
    const end = () => {
      this.#lingering.delete(key);
      const isUsed = gate.activity(key).requests !== requests;
      if (isUsed && clock.monotonic() < until) this.#linger(key, until);
      else this.#remove(key);
    };
    this.#lingering.set(key, clock.schedule(settle, end));
  }

  #cancelRemoval(key: string): void {
    this.#lingering.get(key)?.();
    this.#lingering.delete(key);
  }

  #remove(key: string): void {
    const { gate } = this.#options;
    this.#cancelRemoval(key);
    // Requests in flight may take long, and must not delay the ports of a Service that is managed again.
    const run = this.#after(key, () => {
      this.#close(key);
      return Promise.resolve();
    });
    void run.then(() => {
      // The Service is managed again.
      if (this.#known.get(key) !== run) return;
      this.#known.delete(key);
      gate.endpoints(key, []);
    });
  }

  #close(key: string): void {
    const { gate, log } = this.#options;
    const closing = gate
      .remove(key)
      .catch((error: unknown) => log.warn({ error, service: key }, "the gateway did not close the ports of a Service"))
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  /** Changes of one Service are applied in order. */
  #after(key: string, task: () => Promise<void>): Promise<void> {
    const { log } = this.#options;
    const run = (this.#known.get(key) ?? Promise.resolve()).then(task).catch((error: unknown) => {
      log.warn({ error, service: key }, "the gateway did not apply a change");
    });
    this.#known.set(key, run);
    return run;
  }

  #tellEndpoints(key: string): void {
    const { gate, view, ready } = this.#options;
    const endpoints = view.endpoints(key) ?? [];
    if (endpoints.some((endpoint) => endpoint.ready)) ready(key);
    gate.endpoints(key, endpoints);
  }
}

/** The route of a sleeping Service that cannot be woken: requests without a pod are refused at once. */
function refusingRoute({ metadata, status }: StoredElastiService, service: Service): GateRoute {
  const { namespace = "", name = "" } = service.metadata;
  const { code, message } = new SpecUnreadable({ service: serviceKey(namespace, name), name: metadata.name ?? "" });
  const placeholder = { status: 503, body: `${code}: ${message}\n`, contentType: "text/plain; charset=utf-8" };
  const hold = { ...REFUSING, placeholder };
  const route = status?.route ?? null;
  const binding = { namespace, service: name, hold, probes: NO_PROBES, wakePorts: [], dial: "pod", route } as const;
  return routeOf(binding, service, status?.ports ?? []);
}

const NO_PROBES = new ProbeRules([]);

/** No request waits. */
const REFUSING = {
  protocol: "auto",
  timeout: 1000,
  maxPending: 0,
  maxPendingBytes: 0,
  concurrencyPerPod: null,
  retryAfterSeconds: 30,
} satisfies Omit<HoldPolicy, "placeholder">;

/** The route by which the gate handles the requests of a Service. */
export function routeOf(
  binding: Pick<Binding, "namespace" | "service" | "hold" | "probes" | "wakePorts" | "dial" | "route">,
  service: Service,
  given: readonly PortRecord[],
): GateRoute {
  const address = service.spec?.clusterIP ?? "";
  const waking = wakingPorts(binding.wakePorts, service);
  return {
    key: serviceKey(binding.namespace, binding.service),
    namespace: binding.namespace,
    service: binding.service,
    ports: tcpPorts(service).map((one) => ({
      name: one.name ?? "",
      port: one.port,
      listen: given.find((record) => record.name === (one.name ?? ""))?.port ?? null,
      wakes: waking.includes(one),
    })),
    hold: binding.hold,
    probes: binding.probes,
    byHeader: binding.route !== null,
    dial: binding.dial,
    clusterAddress: address === "" || address === "None" ? null : address,
  };
}
