import { hostname } from "node:os";
import { dashboard } from "@evenkeel/dashboard";
import {
  AccessReviewer,
  connectKube,
  controller,
  controllerMetrics,
  type EndpointSlice,
  endpointSlices,
  eventMetrics,
  events,
  EventRecorder,
  eventSink,
  joinStores,
  keepOnly,
  keyOf,
  type KubeObject,
  leaseLeadership,
  leaseMetrics,
  leases,
  Reflector,
  reflectorMetrics,
  type ResourceTypeOf,
  type Service as KubeService,
  services,
  Store,
  type StoreOptions,
  workqueueMetrics,
} from "@evenkeel/kube";
import { CachedAuthorizer, decisionsService, rpcServer, rpcTransport } from "@evenkeel/rpc";
import { type Environment, type ObjectRef, proxyFor, type Service } from "@evenkeel/runtime";
import { DecisionStream, openState } from "@evenkeel/state";
import { Autoscalers } from "./act/autoscalers.ts";
import { CarryOut } from "./act/carry-out.ts";
import { Selections } from "./act/children.ts";
import { Leftovers } from "./act/leftovers.ts";
import { LetGo } from "./act/let-go.ts";
import { PathProbe } from "./act/path-probe.ts";
import { PathSlices } from "./act/path-slices.ts";
import { PortBook } from "./act/port-book.ts";
import { parsePortRange } from "./act/ports.ts";
import { Scales } from "./act/scales.ts";
import { StatusWriter } from "./act/status-writer.ts";
import { isBadNews } from "./act/status.ts";
import { Waker } from "./act/waker.ts";
import { serviceKey } from "./binding.ts";
import { scaleResolver } from "./definition.ts";
import { elastiServices, referenceOf, type StoredElastiService } from "./elasti-service-resource.ts";
import { Feeder, slicedService } from "./feeder.ts";
import { Activities } from "./observe/activities.ts";
import { Bindings, isScaledBy, namedService } from "./observe/bindings.ts";
import { Observer } from "./observe/observer.ts";
import { OriginalOperator } from "./observe/original-operator.ts";
import { countReplicas, resolverEndpoints } from "./observe/resolver-endpoints.ts";
import { podsOf, serviceEndpoints } from "./observe/service-endpoints.ts";
import { MANAGED_BY, MANAGER } from "./observe/slice-labels.ts";
import { Nudges, serviceChanges, specChanges } from "./observe/sources.ts";
import { Memories } from "./observe/stages.ts";
import { Triggers } from "./observe/triggers/triggers.ts";
import { Board } from "./serve/board.ts";
import { drainService } from "./serve/drain-service.ts";
import { externalScalerService } from "./serve/external-scaler.ts";
import { Gate } from "./serve/gate/gate.ts";
import { Preparations } from "./serve/preparations.ts";
import { resolverService } from "./serve/resolver-service.ts";
import { Wakes } from "./serve/wakes.ts";
import { Turns } from "./turn.ts";

type ScaleResolver = Service<
  (typeof scaleResolver)["settings"],
  (typeof scaleResolver)["metrics"],
  (typeof scaleResolver)["decider"]
>;

/** What scale-resolver consists of, in the order in which it starts. `main` is the address of the program that runs it. */
export function composeScaleResolver(service: ScaleResolver, env: Environment, main: string): void {
  const { settings, clock, log, registry, metrics, decisions, admin } = service;
  const { name } = scaleResolver;
  const instance = hostname();
  const random = Math.random;
  const common = { clock, random, log };

  // The world: the cluster, shared state, metric servers.
  const kube = service.use(connectKube({ settings, env, userAgent: name, clock, log, metrics: registry }));
  const stateOptions = { service: name, clock, log, registry, deadline: settings.stateDeadline };
  const state = service.use(openState(settings.state, stateOptions));
  const reflected = registry.register(reflectorMetrics);
  const reflect = <T extends KubeObject, Index extends string = never>(
    type: ResourceTypeOf<T>,
    options: Omit<StoreOptions<T, Index>, "log"> = {},
  ) => {
    const stores = (settings.watchNamespaces ?? [undefined]).map((namespace) => {
      const store = new Store<T, Index>({ log, ...options });
      const what = namespace === undefined ? type.plural : `${type.plural} in ${namespace}`;
      const about = { name: what, resource: kube.resource(type), store, selection: { namespace } };
      service.use(new Reflector({ ...common, ...about, metrics: reflected }));
      return store;
    });
    return joinStores<T, Index>(stores);
  };
  const store = reflect<StoredElastiService, "service">(elastiServices, { indexes: { service: namedService } });
  const serviceStore = reflect<KubeService>(services, {
    transform: keepOnly(
      "metadata.labels",
      "spec.type",
      "spec.clusterIP",
      "spec.sessionAffinity",
      "spec.ipFamilies",
      "spec.ports",
      "spec.selector",
    ),
  });
  const slices = reflect<EndpointSlice, "service">(endpointSlices, {
    transform: keepOnly("metadata.labels", "metadata.ownerReferences", "addressType", "endpoints", "ports"),
    indexes: { service: slicedService },
  });
  const bindings = new Bindings(store);
  const resource = kube.resource(elastiServices);
  const scales = new Scales(kube);
  const autoscalers = new Autoscalers(kube);
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
  const own = settings.resolverService;
  const resolvers = () =>
    resolverEndpoints(
      own === undefined ? null : [...slices.by("service", `${settings.leaseNamespace}/${own}`)],
      settings.podIp,
    );
  const podsBehind = (namespace: string, name: string) =>
    slices.hasSynced ? podsOf(serviceEndpoints(slices.by("service", `${namespace}/${name}`))) : null;

  // The path of requests, on every replica.
  const nudges = new Nudges();
  const ownerOf = (key: string) => bindings.ownerOf(key);
  const look = (key: string) => {
    const owner = ownerOf(key);
    if (owner) nudges.nudge(keyOf(owner));
  };
  const wakes = new Wakes({
    clock,
    metrics,
    pending: (key) => gate.activity(key).pending,
    tell: (key, wake) => board.woken(key, wake),
  });
  const waker = service.use(
    new Waker({
      ...common,
      scales,
      autoscalers,
      onScaled: (key, { outcome }) => {
        wakes.scaled(key, outcome === "woken");
        metrics.operatorCalls.inc({ error: outcome === "failed" ? "failed" : "" });
        look(key);
      },
    }),
  );
  const bindingFor = (key: string) => {
    const owner = ownerOf(key);
    const understood = owner && bindings.understand(owner);
    return understood?.kind === "service" ? understood.binding : undefined;
  };
  const wakeForRequest = (key: string) => {
    const binding = bindingFor(key);
    if (!binding) return;
    const { namespace, target, minReplicas: to, autoscaler } = binding;
    wakes.begin(key);
    waker.wake({ key, namespace, target, to, autoscaler, needed: () => gate.activity(key).pending > 0 });
  };
  const wakeOnDemand = async (namespace: string, of: string, reason: string) => {
    const binding = bindingFor(serviceKey(namespace, of));
    if (!binding) return false;
    const outcome = await scales.wake(namespace, binding.target, binding.minReplicas);
    if (binding.autoscaler) await autoscalers.resume(namespace, binding.autoscaler);
    log.info({ namespace, service: of, reason, outcome }, "asked to wake a service");
    look(serviceKey(namespace, of));
    return outcome === "woken";
  };
  const gate: Gate = new Gate({
    host: settings.listenHost ?? "::",
    port: settings.port,
    hostHeaders: settings.hostHeaders,
    overall: { count: settings.maxPending, bytes: settings.maxPendingBytes },
    clock,
    log,
    registry,
    metrics,
    wake: wakeForRequest,
    changed: (key) => {
      look(key);
      activities.tell(key);
    },
    firstAnswer: (key) => wakes.answered(key),
  });
  // The first burst of a cold process is slow: the path is run through before anybody is told that this replica is ready.
  service.use({ name: "warm-up", start: async () => void (await gate.door.warm({ within: settings.warmUp })) });
  service.open(gate.door);
  const activities: Activities = service.use(
    new Activities({
      state,
      instance,
      keys: () => [...store.values()].flatMap(namedService),
      local: (key) => gate.activity(key),
      object: (key) => ownerOf(key)?.metadata.uid,
      inPath: (key) => [...slices.by("service", key)].some(({ metadata }) => metadata.labels?.[MANAGED_BY] === MANAGER),
      resolvers: () => countReplicas(resolvers()),
      changed: look,
      clock,
      log,
    }),
  );
  const feeder = new Feeder({
    objects: store,
    services: serviceStore,
    slices,
    bindings,
    gate,
    log,
    ready: (key) => wakes.ready(key),
  });
  service.use(feeder);

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
  const refer = (object: ObjectRef) => referenceOf(store.get(`${object.namespace ?? ""}/${object.name}`));
  decisions.addSink(eventSink({ recorder, refer, isWarning: isBadNews }));
  const stream = service.use(new DecisionStream({ state, clock, log, registry, whileAway: decisions.ring }));
  decisions.addSink(stream);
  const board = service.use(new Board({ store, clock, activity: (key) => gate.activity(key) }));
  const preparations = new Preparations({ clock, changed: look });

  // The loop, on the leader alone.
  if (settings.leaderElect) {
    const lease = { namespace: settings.leaseNamespace, name, identity: instance, timing: settings };
    const urgent = kube.resource(leases, { lane: "urgent" });
    service.electBy(leaseLeadership({ ...common, ...lease, leases: urgent, metrics: registry.register(leaseMetrics) }));
  }
  const path = new PathSlices({ slices: kube.resource(endpointSlices), seen: slices });
  const leftovers = new Leftovers({
    slices: kube.resource(endpointSlices),
    services: kube.resource(services),
    serviceStore,
    sliceStore: slices,
  });
  const probe = new PathProbe({ clock, random });
  const memories = new Memories();
  const observer = new Observer({
    services: serviceStore,
    slices,
    replicas: (namespace, target, signal) => scales.read(namespace, target, { signal }),
    triggers: ({ metadata, spec }, signal) =>
      triggers.read(metadata.namespace ?? "", spec.triggers ?? [], spec.cooldownPeriod || 900, signal),
    activity: (key) => activities.read(key),
    original,
    resolvers: () => countReplicas(resolvers()),
    drainPrepared: (namespace, of) => preparations.isPrepared(namespace, of),
    prove: (of, pods, signal) => (settings.pathProbe ? probe.prove(of, pods, signal) : Promise.resolve(true)),
    clock,
    settle: settings.settle,
  });
  const turns = new Turns({
    elastiServices: resource,
    store,
    services: serviceStore,
    bindings,
    observer,
    memories,
    ports: new PortBook(store, parsePortRange(settings.portRange) ?? { first: 20_000, last: 20_999 }),
    path,
    carryOut: new CarryOut({
      path,
      scales,
      autoscalers,
      leftovers,
      resolvers,
      activity: (key) => activities.read(key),
    }),
    letGo: new LetGo({
      elastiServices: resource,
      path,
      scales,
      autoscalers,
      leftovers,
      pods: podsBehind,
      original,
      clock,
      dryRun: settings.dryRun,
    }),
    selections: new Selections({ kube, store, services: serviceStore }),
    statuses: new StatusWriter(resource),
    decisions,
    board,
    wakes,
    metrics,
    registry,
    clock,
    interval: settings.triggerInterval,
  });
  const loop = controller({
    name,
    sources: [specChanges(store), ...serviceChanges(bindings, serviceStore, slices), nudges],
    reconcile: turns.take,
    workers: settings.workers,
    clock,
    log,
    metrics: registry.register(controllerMetrics),
    queueMetrics: registry.register(workqueueMetrics),
  });
  service.lead("switch", (term) =>
    loop(term).finally(() => {
      memories.clear();
      board.clear();
    }),
  );

  // The doors.
  const transport = rpcTransport(service);
  if (transport !== "insecure") service.use(transport);
  const rpc = rpcServer(service, transport, new CachedAuthorizer(new AccessReviewer(kube), { clock }));
  rpc.add(decisionsService({ source: stream, recording: (id) => decisions.recording(id) }));
  rpc.add(resolverService({ board, elastiServices: resource, wake: wakeOnDemand, clock }));
  rpc.add(
    drainService({ preparations, board, clock, endpoints: (key) => serviceEndpoints(slices.by("service", key)) }),
  );
  rpc.add(
    externalScalerService({
      find: (namespace, scaledObject, of) => {
        const named = of === undefined ? undefined : serviceKey(namespace, of);
        if (named !== undefined) return bindingFor(named) && named;
        const found = [...store.values()].find((object) => isScaledBy(object, namespace, scaledObject));
        return found && namedService(found)[0];
      },
      look: async (key) => {
        const pods = podsOf(serviceEndpoints(slices.by("service", key)));
        const { ready, starting } = pods;
        return { state: board.get(key)?.state ?? null, ready, starting, activity: await activities.read(key) };
      },
      subscribe: (listener) => board.subscribe(listener),
      clock,
    }),
  );
  rpc.serveJson(admin.routes);
  dashboard(service, main);
  service.open(rpc);
}
