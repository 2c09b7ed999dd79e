import { hostname } from "node:os";
import { dashboard } from "@evenkeel/dashboard";
import {
  AccessReviewer,
  connectKube,
  controller,
  controllerMetrics,
  endpointSlices,
  eventMetrics,
  events,
  EventRecorder,
  eventSink,
  leaseLeadership,
  leaseMetrics,
  leases,
  reflectorMetrics,
  services,
  specChanges,
  workqueueMetrics,
} from "@evenkeel/kube";
import { CachedAuthorizer, decisionsService, rpcServer, rpcTransport } from "@evenkeel/rpc";
import { type Environment, type ObjectRef, proxyFor, type Service } from "@evenkeel/runtime";
import { DecisionStream, openState } from "@evenkeel/state";
import { Autoscalers } from "./act/autoscalers.ts";
import { Executor } from "./act/executor.ts";
import { Selections } from "./act/children.ts";
import { RestoreWorkload } from "./act/release/restore-workload.ts";
import { OriginalLeftovers } from "./act/release/original-leftovers.ts";
import { ReleaseService } from "./act/release/release-service.ts";
import { leftOutFamilies } from "./act/path-plan.ts";
import { PathProbe } from "./act/path-probe.ts";
import { PathSlices } from "./act/path-slices.ts";
import { PortAllocator } from "./act/port-allocator.ts";
import { parsePortRange } from "./act/port-range.ts";
import { RouteSwitch } from "./act/routes/route-switch.ts";
import { ScaledObjects } from "./act/scaled-objects.ts";
import { Scales } from "./act/scales.ts";
import { StatusWriter } from "./act/status-writer.ts";
import { isBadNews } from "./act/status.ts";
import { serviceKey } from "./binding.ts";
import { scaleResolver } from "./definition.ts";
import { elastiServices, PAUSED, referenceOf, RELEASE } from "./elasti-service-resource.ts";
import { ClusterView } from "./observe/cluster-view.ts";
import { Observer } from "./observe/observer.ts";
import { OriginalOperator } from "./observe/original-operator.ts";
import { countReplicas } from "./observe/resolver-endpoints.ts";
import { Nudges, resolverChanges, rivalChanges, serviceChanges } from "./observe/sources.ts";
import { Memories } from "./observe/stages.ts";
import { Triggers } from "./observe/triggers/triggers.ts";
import { Board } from "./serve/board.ts";
import { gateway } from "./gateway/gateway.ts";
import { drainService } from "./serve/drain-service.ts";
import { DrainRelay } from "./serve/drain-service-relay.ts";
import { externalScalerService, scaledSights } from "./serve/external-scaler.ts";
import { Preparations } from "./serve/preparations.ts";
import { resolverService } from "./serve/resolver-service.ts";
import { wakeOnDemand } from "./serve/wake-on-demand.ts";
import { Reconciler } from "./reconciler.ts";

type ScaleResolver = Service<
  (typeof scaleResolver)["settings"],
  (typeof scaleResolver)["metrics"],
  (typeof scaleResolver)["decider"]
>;

/** The port of the resolver's own Service, behind which is `--port`. */
const RESOLVER_PORT = 8012;

/** What scale-resolver consists of, in the order in which it starts. `main` is the address of the program that runs it. */
export function composeScaleResolver(service: ScaleResolver, env: Environment, main: string): void {
  const { settings, clock, log, registry, metrics, decisions, admin } = service;
  const { name } = scaleResolver;
  const instance = settings.podName ?? hostname();
  const random = Math.random;
  const common = { clock, random, log };
  const use = service.use.bind(service);

  // The world: the cluster, shared state, metric servers.
  const kube = service.use(connectKube({ settings, env, userAgent: name, clock, log, metrics: registry }));
  const stateOptions = { service: name, clock, log, registry, deadline: settings.stateDeadline };
  const state = service.use(openState(settings.state, stateOptions));
  const { leaseNamespace: namespace, resolverService: own } = settings;
  const view = new ClusterView({
    ...common,
    kube,
    metrics: registry.register(reflectorMetrics),
    namespaces: settings.watchNamespaces,
    own: own === undefined ? undefined : { namespace, name: own },
    podIps: settings.podIp,
    use,
  });
  const triggers = service.use(
    new Triggers({
      ...common,
      interval: settings.triggerInterval,
      address: settings.prometheusAddress,
      proxyFor: (server) => proxyFor(server, env),
    }),
  );
  const operator = new OriginalOperator({ leases: kube.resource(leases), name: settings.originalLease, clock, log });
  const original = () => operator.running();
  const scales = new Scales(kube);
  const autoscalers = new Autoscalers(kube);

  // The path of requests, on every replica.
  const nudges = new Nudges();
  const news = new Nudges();
  const changed = (key: string) => {
    news.nudge(key);
    const owner = view.ownerKey(key);
    if (owner !== undefined) nudges.nudge(owner);
  };
  const { gate, wakeTimer, activities, waker } = gateway({
    ...{ ...common, settings, view, state, scales, autoscalers, instance, registry, metrics, changed, use },
    woken: (key, wake) => board.woken(key, wake),
    open: (door) => void service.open(door),
  });

  // Who hears of decisions.
  const recorder = service.use(
    new EventRecorder({
      ...common,
      events: kube.resource(events),
      controller: `evenkeel.io/${name}`,
      instance,
      metrics: registry.register(eventMetrics),
    }),
  );
  const refer = (object: ObjectRef) => referenceOf(view.objects.get(`${object.namespace ?? ""}/${object.name}`));
  decisions.addSink(eventSink({ recorder, refer, isWarning: isBadNews }));
  const stream = service.use(new DecisionStream({ state, clock, log, registry, whileAway: decisions.ring }));
  decisions.addSink(stream);
  const board: Board = service.use(new Board({ store: view.objects, clock, activity: (key) => activities.seen(key) }));
  const preparations = service.use(new Preparations({ clock, changed }));
  const relay = service.use(new DrainRelay({ state, instance, clock, log }));

  // The loop, on the leader alone.
  if (settings.leaderElect) {
    const lease = { namespace, name, identity: instance, timing: settings };
    const urgent = kube.resource(leases, { lane: "urgent" });
    service.electBy(leaseLeadership({ ...common, ...lease, leases: urgent, metrics: registry.register(leaseMetrics) }));
  }
  const resource = kube.resource(elastiServices);
  const path = new PathSlices({ slices: kube.resource(endpointSlices), seen: view.slices });
  const leftovers = new OriginalLeftovers({
    slices: kube.resource(endpointSlices),
    services: kube.resource(services),
    sliceStore: view.slices,
    serviceStore: view.services,
  });
  const probe = new PathProbe({ clock, random });
  const memories = new Memories();
  const routes = new RouteSwitch({
    kube,
    resolver: own === undefined ? undefined : { namespace, name: own, port: RESOLVER_PORT },
  });
  const scaledObjects = new ScaledObjects({
    kube,
    clock,
    address: `${own ?? name}.${namespace}:${settings.grpcPort}`,
    tls: !settings.insecure,
    authentication: settings.kedaAuthentication,
  });
  const acts = {
    path,
    routes,
    scales,
    autoscalers,
    leftovers,
    restoreWorkload: new RestoreWorkload({ scales, autoscalers }),
  };
  const reconciler = new Reconciler({
    elastiServices: resource,
    view,
    observer: new Observer({
      view,
      replicas: (of, target, signal) => scales.read(of, target, { signal }),
      triggers: (binding, signal) => triggers.read(binding, signal),
      activity: (key) => activities.read(key),
      original,
      resolvers: () => countReplicas(view.resolvers()),
      unreached: (of) => leftOutFamilies(of, view.resolvers()),
      unbound: (key) => gate.unbound(key),
      drainPrepared: (of, prepared) => preparations.isPrepared(of, prepared),
      prove: (of, pods, signal) => (settings.pathProbe ? probe.prove(of, pods, signal) : Promise.resolve(true)),
      clock,
      settle: settings.settle,
    }),
    memories,
    ports: new PortAllocator(
      view.objects,
      parsePortRange(settings.portRange) ?? { first: 20_000, last: 20_999 },
      clock,
    ),
    path,
    executor: new Executor({
      ...acts,
      scaledObjects,
      resolvers: view.resolvers,
      leavingResolvers: view.leavingResolvers,
      activity: (key) => activities.read(key, true),
      hasWoken: waker.hasWoken.bind(waker),
      woken: (key) => wakeTimer.count(key),
    }),
    releaseService: new ReleaseService({
      ...acts,
      elastiServices: resource,
      bindings: view.bindings,
      pods: view.pods,
      original,
      clock,
      dryRun: settings.dryRun,
    }),
    selections: new Selections({
      kube,
      store: view.objects,
      services: view.services,
      own: own === undefined ? undefined : serviceKey(namespace, own),
    }),
    original,
    statuses: new StatusWriter(resource),
    decisions,
    board,
    wakeTimer,
    metrics,
    registry,
    clock,
    dryRun: settings.dryRun,
    interval: settings.triggerInterval,
  });
  const loop = controller({
    name,
    sources: [
      specChanges(view.objects, [PAUSED, RELEASE]),
      rivalChanges(view.objects),
      ...serviceChanges(view, (key) => gate.handsOver(key)),
      ...(view.ownSlices ? [resolverChanges(view.objects, view.ownSlices)] : []),
      nudges,
    ],
    reconcile: reconciler.reconcile,
    workers: settings.workers,
    clock,
    log,
    metrics: registry.register(controllerMetrics),
    queueMetrics: registry.register(workqueueMetrics),
  });
  service.lead("switch", (term) => loop(term).finally(() => reconciler.resign()));
  service.lead("drains", relay.lead);

  // The doors.
  const transport = rpcTransport(service);
  if (transport !== "insecure") service.use(transport);
  const rpc = rpcServer(service, transport, new CachedAuthorizer(new AccessReviewer(kube), { clock }));
  const wake = wakeOnDemand({ binding: (key) => view.binding(key), scales, autoscalers, log, changed });
  rpc.add(decisionsService({ source: stream, recording: (id) => decisions.recording(id) }));
  rpc.add(resolverService({ board, elastiServices: resource, wake, clock }));
  rpc.add(drainService({ preparations, board, clock, endpoints: view.endpoints, relay }));
  rpc.add(
    externalScalerService({ ...scaledSights(view, board, activities, (listener) => news.subscribe(listener)), clock }),
  );
  rpc.serveJson(admin.routes, {
    reads: settings.readAccess,
    objects: [{ group: elastiServices.group, resource: elastiServices.plural }],
    namespaces: settings.watchNamespaces,
  });
  dashboard(service, main);
  service.open(rpc);
}
