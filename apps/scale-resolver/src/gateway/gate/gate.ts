import type { Destination, Exchange, Forwarder, Router } from "@evenkeel/forward";
import type { Activity } from "../../decide/snapshot.ts";
import type { ServiceEndpoint } from "../../observe/endpoints.ts";
import { descriptorLimit, Descriptors } from "./descriptors.ts";
import { UnknownService } from "./errors.ts";
import { GateForwarder } from "./gate-forwarder.ts";
import { GatedService, servingOf } from "./gated-service.ts";
import type { GateOptions } from "./gate-options.ts";
import type { GateRoute } from "./gate-route.ts";
import { AccessLog } from "./access-log.ts";
import { pathProbeAnswer } from "./path-probe-answer.ts";
import { serviceNames } from "./service-name.ts";
import { ServicePorts } from "./service-ports.ts";
import { Dispatcher } from "./dispatcher.ts";
import { PortQueue } from "./port-queue.ts";

/** The time limit for a connection to a pod. The response time is not limited. */
const DEADLINES = { connect: 2_000, response: 0 };
/** Maximum connections to one pod. Requests beyond it would wait in a queue that is not counted. */
const UPSTREAM_CONNECTIONS = 20_000;
/**
 * One Service gets at most two thirds of the client connections, of what they send early and of the room for waiting
 * requests, so that others can still be reached.
 */
const SHARE = 2;
const NOTHING: Activity = { pending: 0, inFlight: 0, requests: 0, lastRequestAt: null };

/**
 * The data plane: accepts requests for Services on one port each and on a common port, forwards them to serving pods,
 * and holds them while there are none. It is told which Services and pods exist.
 */
export class Gate {
  readonly #forwarder: GateForwarder;
  readonly #options: GateOptions;
  readonly #services = new Map<string, GatedService>();
  /** The endpoints by Service, including Services that are not added yet. */
  readonly #endpoints = new Map<string, readonly ServiceEndpoint[]>();
  readonly #hostHeaders: readonly string[];
  readonly #accessLog: AccessLog;
  readonly #dispatcher: Dispatcher;
  readonly #ports: ServicePorts;
  #queueCount = 0;

  constructor(options: GateOptions) {
    const { host, port, clock, registry, metrics, overall, uploadProbe, wake, changed } = options;
    const log = options.log.child({ component: "gate" });
    this.#options = { ...options, log };
    this.#hostHeaders = options.hostHeaders.map((name) => name.toLowerCase());
    this.#accessLog = new AccessLog({
      clock,
      log,
      metrics,
      busy: () => [...this.#services.keys()].some((key) => this.isReleasing(key)),
    });
    const descriptors = new Descriptors(options.descriptorLimit ?? descriptorLimit(), () => this.#descriptors());
    this.#dispatcher = new Dispatcher({
      clock,
      log,
      overall,
      share: SHARE,
      descriptors,
      accessLog: this.#accessLog,
      wake,
      changed,
      burstAnswered: () => this.#forwarder.readOn(),
      firstAnswer: (service, milliseconds) => {
        metrics.wakeSeconds.observe({ ...service.labels, phase: "connect" }, milliseconds / 1000);
        options.firstAnswer?.(service.key, milliseconds);
      },
      unanswered: (key) => options.unanswered?.(key),
    });
    const forwarder = {
      name: "requests",
      host,
      port,
      flag: "port",
      router: this.#router((exchange) => this.#byHeader(exchange)),
      limits: {
        ...{ upstreamConnections: UPSTREAM_CONNECTIONS, connections: descriptors.connections, share: SHARE },
        ...(uploadProbe !== undefined && { probe: uploadProbe }),
      },
      deadlines: DEADLINES,
      clock,
      log,
      registry,
    };
    this.#forwarder = new GateForwarder(forwarder, () => this.#stop());
    this.#ports = new ServicePorts({
      ...{ forwarder: this.#forwarder, host, clock, log, metrics },
      changed: (service) => this.#dispatcher.changed(service),
      router: (queue) => this.#router((exchange) => this.#byPort(queue, exchange)),
    });
  }

  /** Accepts the requests. Its main port is for requests whose headers name their Service. */
  get forwarder(): Forwarder {
    return this.#forwarder;
  }

  /** Adds or changes a Service. Resolves when its ports are open, or cannot be opened. */
  async put(route: GateRoute): Promise<void> {
    let service = this.#services.get(route.key);
    if (service?.route.probes !== route.probes) {
      for (const error of route.probes.refused) {
        this.#options.log.warn(
          { error, service: route.key },
          "a rule of probeResponse is invalid and matches no request",
        );
      }
    }
    if (service) {
      service.route = route;
      service.refusals.clear();
    } else {
      this.#services.set(route.key, (service = new GatedService(route)));
      // The gauges may still have the numbers of a removed Service of this name.
      this.#accessLog.touch(service);
    }
    const known = service;
    known.byHeader ||= route.byHeader;
    const gone = this.#updateQueues(known);
    this.#serve(known);
    known.portChanges = known.portChanges.then(async () => {
      for (const queue of gone) void this.#closeQueue(queue);
      await this.#ports.open(known);
    });
    await known.portChanges;
  }

  /**
   * Removes a Service: refuses its waiting requests and lets those in flight end, for which it waits. The Service may
   * be added again meanwhile.
   */
  async remove(key: string): Promise<void> {
    const service = this.#services.get(key);
    if (!service) return;
    this.#services.delete(key);
    service.removed = true;
    this.#ports.cancel(service);
    const queues = [...service.queues.values()];
    for (const queue of queues) this.#dispatcher.hold.drain(queue.key);
    service.portChanges = service.portChanges.then(async () => {
      await Promise.all(queues.map((queue) => this.#closeQueue(queue)));
      this.#accessLog.flush();
      if (this.#services.has(key)) return;
      const { namespace, service: name } = service.labels;
      this.#options.registry.forget({ namespace, service: name });
      this.#options.registry.forget({ namespace, source: name });
    });
    await service.portChanges;
  }

  /** Sets all endpoints of a Service. */
  endpoints(key: string, endpoints: readonly ServiceEndpoint[]): void {
    if (endpoints.length > 0) this.#endpoints.set(key, endpoints);
    else this.#endpoints.delete(key);
    const service = this.#services.get(key);
    if (service) this.#serve(service);
  }

  /** Whether released requests of a Service have no response yet. */
  isReleasing(key: string): boolean {
    const service = this.#services.get(key);
    return service !== undefined && service.serves && (service.pending > 0 || service.cancelNotify !== undefined);
  }

  /**
   * Number of a Service's ports that are not open. The gate retries them. No port of an unknown Service is open.
   */
  unbound(key: string): number {
    return this.#services.get(key)?.unbound ?? 1;
  }

  /** Number of open connections at the listener of a Service's port. */
  connections(key: string, port: number): number {
    return this.#services.get(key)?.queues.get(port)?.listener?.connections ?? 0;
  }

  activity(key: string): Activity {
    return this.#services.get(key)?.activity() ?? NOTHING;
  }

  #stop(): void {
    this.#ports.stop();
    for (const { queues } of this.#services.values()) for (const queue of queues.values()) queue.close();
    this.#accessLog.flush();
  }

  /** Number of open sockets of requests, and of those that waiting tunnels need later. */
  #descriptors(): number {
    const { clientSockets, upstreamSockets } = this.#forwarder.counts();
    return clientSockets + upstreamSockets + this.#dispatcher.waitingTunnels;
  }

  #router(route: (exchange: Exchange) => Destination | Promise<Destination>): Router {
    return { route, retry: (exchange, failure) => this.#dispatcher.retry(exchange, failure) };
  }

  #byPort(queue: PortQueue, exchange: Exchange): Destination | Promise<Destination> {
    const probed = pathProbeAnswer(exchange);
    if (probed) return probed;
    this.#accessLog.found("port");
    return this.#dispatcher.admit(queue, exchange, true);
  }

  #byHeader(exchange: Exchange): Destination | Promise<Destination> {
    for (const { namespace, service, port } of serviceNames(exchange, this.#hostHeaders)) {
      const known = this.#services.get(`${namespace}/${service}`);
      const queue = known?.byHeader === true ? known.queue(port) : undefined;
      if (!queue) continue;
      this.#accessLog.found("header");
      return this.#dispatcher.admit(queue, exchange, false);
    }
    this.#accessLog.found("none");
    const error = new UnknownService({ headers: this.#options.hostHeaders.join(", ") });
    return { refuse: { status: 404, code: error.code, body: `${error.code}: ${error.message}\n` } };
  }

  /**
   * Creates the queues for the route's ports. Returns the queues that are no longer needed, with no request waiting in
   * them.
   */
  #updateQueues(service: GatedService): readonly PortQueue[] {
    const { queues, key, route } = service;
    for (const port of route.ports) {
      const known = queues.get(port.port);
      if (known) {
        known.port = port;
        continue;
      }
      const queueKey = `${key}:${port.port} ${(this.#queueCount += 1)}`;
      const queue = new PortQueue(service, port, {
        key: queueKey,
        hold: this.#dispatcher.hold,
        clock: this.#options.clock,
      });
      queues.set(port.port, queue);
      this.#dispatcher.queues.set(queueKey, queue);
    }
    const gone = [...queues.values()].filter(({ port }) => !route.ports.includes(port));
    for (const queue of gone) {
      queues.delete(queue.port.port);
      this.#dispatcher.hold.drain(queue.key);
    }
    return gone;
  }

  /** Updates the queues with the serving endpoints. */
  #serve(service: GatedService): void {
    const { clock, wake } = this.#options;
    const endpoints = this.#endpoints.get(service.key) ?? [];
    const served = service.serves;
    service.serving = servingOf(endpoints);
    service.ready = service.serving.filter(({ ready }) => ready).length;
    if (service.serves && !served && service.pending > 0) service.offeredAt = clock.monotonic();
    for (const queue of service.queues.values()) queue.update(service.serving);
    if (!service.serves && service.pending > 0) wake(service.key);
  }

  async #closeQueue(queue: PortQueue): Promise<void> {
    await this.#ports.close(queue);
    this.#dispatcher.hold.drain(queue.key);
    queue.close();
    this.#dispatcher.queues.delete(queue.key);
  }
}
