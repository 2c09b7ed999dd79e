import { hostname } from "node:os";
import { dashboard } from "@evenkeel/dashboard";
import {
  AccessReviewer,
  connectKube,
  controller,
  controllerMetrics,
  eventMetrics,
  EventRecorder,
  events,
  eventSink,
  joinStores,
  KeyNotifier,
  type KubeClient,
  type KubeObject,
  leaseLeadership,
  leaseMetrics,
  leases,
  nameKey,
  type ObjectReference,
  type ReadStore,
  referenceOf,
  Reflector,
  reflectorMetrics,
  type ResourceTypeOf,
  type Selection,
  Store,
  workqueueMetrics,
} from "@evenkeel/kube";
import type { MetricTable } from "@evenkeel/metrics";
import {
  CachedAuthorizer,
  type CertificateFiles,
  decisionsService,
  type RpcServer,
  rpcServer,
  rpcTransport,
  type Served,
} from "@evenkeel/rpc";
import type {
  Clock,
  Decider,
  Decision,
  DecisionSource,
  Logger,
  ObjectRef,
  Service,
  ServiceSettings,
} from "@evenkeel/runtime";
import { DecisionStream, openState, type State } from "@evenkeel/state";
import type { OperatedService, OperatorFrameOptions, ReconcileOptions, ReflectOptions } from "./frame-options.ts";
import { LeaderRelay } from "./leader-relay.ts";
import { leadershipWithoutLease } from "./leadership-without-lease.ts";
import { ObjectReconciles } from "./object-reconciles.ts";

/**
 * The frame of a service: what every service has, connected in the one right order. `compose.ts` of a service calls it
 * from top to bottom, and adds its own parts between the calls:
 *
 *     operatorFrame   certificates, API server, shared state, election of the leader
 *     reflect         objects, followed in every watched namespace
 *     announce        decisions go to Kubernetes Events, the shared stream and the Decisions service
 *     reconcile       the loop, on the leader alone
 *     serve, open     gRPC with authorization, JSON, the dashboard
 *
 * Parts start in this order and stop in reverse. The leader's loops start last; on shutdown they end first, and the
 * Lease is released before the servers drain.
 */
export function operatorFrame(service: OperatedService, options: OperatorFrameOptions): OperatorFrame {
  return new OperatorFrame(service, options);
}

export class OperatorFrame {
  /** Those of the settings; undefined with `--insecure`. For servers of the service's own. */
  readonly certificates: CertificateFiles | undefined;
  readonly kube: KubeClient;
  readonly state: State;
  readonly common: { readonly clock: Clock; readonly random: () => number; readonly log: Logger };
  readonly instance: string;
  readonly use: Service<ServiceSettings, MetricTable, Decider>["use"];
  readonly #service: OperatedService;
  readonly #main: string;
  readonly #releaseHints = new KeyNotifier();
  readonly #rpc: RpcServer;
  readonly #metrics;
  /** Of each kind that is reflected, how its objects are found. */
  readonly #references = new Map<string, (key: string) => ObjectReference | undefined>();
  /** The types that the service is about: reading it needs access to them where reading needs a token. */
  readonly #reconciled: ResourceTypeOf<KubeObject>[] = [];

  constructor(service: OperatedService, { env, main, instance = hostname() }: OperatorFrameOptions) {
    const { name, settings, clock, log, registry } = service;
    this.#service = service;
    this.#main = main;
    this.instance = instance;
    this.common = { clock, random: Math.random, log };
    this.use = (component) => service.use(component);
    const transport = rpcTransport(service);
    this.certificates = transport === "insecure" ? undefined : this.use(transport);
    this.kube = service.use(connectKube({ settings, env, userAgent: name, clock, log, metrics: registry }));
    this.state = service.use(
      openState(settings.state, { service: name, clock, log, registry, deadline: settings.stateDeadline }),
    );
    this.#metrics = {
      reflector: registry.register(reflectorMetrics),
      controller: registry.register(controllerMetrics),
      queue: registry.register(workqueueMetrics),
    };
    this.#rpc = rpcServer(service, transport, new CachedAuthorizer(new AccessReviewer(this.kube), { clock }));
    if (settings.leaderElect) {
      const lease = { namespace: settings.leaseNamespace, name, identity: instance, timing: settings };
      const urgent = this.kube.resource(leases, { lane: "urgent" });
      const metrics = registry.register(leaseMetrics);
      const releaseHints = (hint: () => void) => this.#releaseHints.subscribe(hint);
      service.electBy(leaseLeadership({ ...this.common, ...lease, leases: urgent, metrics, releaseHints }));
    } else {
      service.electBy(leadershipWithoutLease({ ...this.common, version: (signal) => this.#presentVersion(signal) }));
    }
  }

  /** The leader may soon release the Lease: this replica tries for it more often for some seconds. */
  expectRelease(): void {
    this.#releaseHints.notify(this.#service.name);
  }

  /** Asked by a list of the kind that is reconciled, because every service may list that. */
  async #presentVersion(signal: AbortSignal): Promise<string> {
    const [type] = this.#reconciled;
    if (!type) return "0";
    const namespace = type.namespaced ? this.#service.settings.watchNamespaces?.[0] : undefined;
    return (await this.kube.resource(type).list({ namespace, limit: 1, signal })).resourceVersion;
  }

  /** A store that follows the objects of a type, on every replica. */
  reflect<T extends KubeObject, Index extends string = never>(
    type: ResourceTypeOf<T>,
    { selection, timing = {}, onFault, optional = false, ...about }: ReflectOptions<T, Index> = {},
  ): ReadStore<T, Index> {
    const { watchNamespaces = [] } = this.#service.settings;
    const isLimited = type.namespaced && watchNamespaces.length > 0;
    const watched = isLimited ? watchNamespaces.map((namespace) => ({ namespace })) : [{}];
    const stores = (selection ? [selection] : watched).map((each: Selection) => {
      const store = new Store<T, Index>({ log: this.#service.log, ...about });
      const resource = this.kube.resource(type);
      const what = { name: reflectorName(type, each), resource, store, selection: each, timing, onFault };
      const reflector = new Reflector({ ...this.common, ...what, metrics: this.#metrics.reflector });
      const { name } = reflector;
      this.use(optional ? { name, start: () => reflector.start(), stop: () => reflector.stop() } : reflector);
      return store;
    });
    const joined = joinStores<T, Index>(stores);
    const isWhole = Object.keys(selection ?? {}).length === 0;
    if (isWhole) this.#references.set(type.kind, (key) => referenceOf(type, joined.get(key)));
    return joined;
  }

  /**
   * Tells of decisions: as Events of the objects that are reflected, in the stream that replicas share, and to callers
   * of Decisions. Returns the decisions of all replicas, and the recorder for Events that are not about a decision.
   */
  announce({ isWarning }: { readonly isWarning: (decision: Decision) => boolean }): Announced {
    const { name, clock, log, registry, decisions } = this.#service;
    const recorder = this.use(
      new EventRecorder({
        ...this.common,
        events: this.kube.resource(events),
        controller: `evenkeel.io/${name}`,
        instance: this.instance,
        metrics: registry.register(eventMetrics),
      }),
    );
    const refer = (object: ObjectRef) => this.#references.get(object.kind)?.(nameKey(object));
    decisions.addSink(eventSink({ recorder, refer, isWarning }));
    const { state } = this;
    const stream = this.use(new DecisionStream({ state, clock, log, registry, whileAway: decisions.ring }));
    decisions.addSink(stream);
    this.serve(decisionsService({ source: stream, recording: (id) => decisions.recording(id) }));
    return { record: (...event) => recorder.record(...event), source: stream };
  }

  /**
   * Reconciles every object that the sources name, on the leader alone. When a term ends, what this process knew as
   * leader is forgotten: the runtime forgets decisions and the gauges that are `leaderOnly`, the frame the board and
   * what the reconciler keeps.
   */
  reconcile<T extends KubeObject>({ name, type, store, sources, reconciler, board }: ReconcileOptions<T>): void {
    this.#reconciled.push(type);
    const { name: controllerName, settings, clock, log, registry, decisions } = this.#service;
    const objects = new ObjectReconciles({
      store,
      reconciler,
      forget: ({ namespace, name }) => {
        decisions.forget({ kind: type.kind, ...(namespace !== undefined && { namespace }), name });
        registry.forget({ namespace: namespace ?? "", name });
      },
      clock,
    });
    const { workers } = settings;
    const metrics = { metrics: this.#metrics.controller, queueMetrics: this.#metrics.queue };
    const { reconcile, deadline } = objects;
    this.#service.lead(
      name,
      controller({ name: controllerName, sources, reconcile, deadline, workers, clock, log, ...metrics }),
    );
    this.#service.afterTerm(() => {
      objects.endTerm();
      board?.clear();
    });
  }

  /** A relay of calls to the leader, by the name of what is called. */
  relay(name: string): LeaderRelay {
    const { clock, log } = this.#service;
    const relay = this.use(new LeaderRelay({ name, state: this.state, instance: this.instance, clock, log }));
    this.#service.lead(relay.name, relay.lead);
    return relay;
  }

  /** Adds a gRPC service; its methods are served as JSON too. */
  serve<D extends Served["definition"]>(served: Served<D>): void {
    this.#rpc.add(served);
  }

  /** Opens the servers: the last call. */
  open(): void {
    const { admin, settings } = this.#service;
    this.#rpc.serveJson(admin.routes, {
      reads: settings.readAccess,
      objects: this.#reconciled.map(({ group, plural, namespaced }) => ({ group, resource: plural, namespaced })),
      namespaces: settings.watchNamespaces,
    });
    dashboard(this.#service, this.#main);
    this.#service.open(this.#rpc);
  }
}

/** What a service that announces its decisions gets. */
export interface Announced extends Pick<EventRecorder, "record"> {
  readonly source: DecisionSource;
}

/** `pods in shop with app=checkout`. */
function reflectorName({ plural }: { readonly plural: string }, { namespace, labelSelector }: Selection): string {
  const where = namespace === undefined ? "" : ` in ${namespace}`;
  return `${plural}${where}${labelSelector === undefined ? "" : ` with ${labelSelector}`}`;
}
