import { hostname } from "node:os";
import { dashboard } from "@evenkeel/dashboard";
import {
  AccessReviewer,
  connectKube,
  controller,
  controllerMetrics,
  eventMetrics,
  events,
  EventRecorder,
  eventSink,
  ForeignLease,
  joinStores,
  leaseLeadership,
  leaseMetrics,
  leases,
  Reflector,
  reflectorMetrics,
  secrets,
  specChanges,
  Store,
  workqueueMetrics,
} from "@evenkeel/kube";
import { CachedAuthorizer, decisionsService, rpcServer, rpcTransport } from "@evenkeel/rpc";
import { type Environment, type ObjectRef, proxyFor, type Service } from "@evenkeel/runtime";
import { DecisionStream, openState } from "@evenkeel/state";
import { httpRoutes } from "./targets/http-route.ts";
import { Route53Targets } from "./targets/route53/route53-targets.ts";
import { StatusWriter } from "./act/status-writer.ts";
import { isBadNews } from "./act/status.ts";
import { weightRebalancer } from "./definition.ts";
import { Memories } from "./observe/memories.ts";
import { Observer } from "./observe/observer.ts";
import { PrometheusSources } from "./observe/prometheus/prometheus-sources.ts";
import { KubeSecrets } from "./observe/secrets.ts";
import { outsideOf } from "./outside.ts";
import { PAUSED, rebalances, referenceOf, type StoredRebalance } from "./rebalance-resource.ts";
import { WeightBoard } from "./serve/weight-board.ts";
import { weightsService } from "./serve/weights-service.ts";
import { Reconciler } from "./reconciler.ts";

type WeightRebalancer = Service<
  (typeof weightRebalancer)["settings"],
  (typeof weightRebalancer)["metrics"],
  (typeof weightRebalancer)["decider"]
>;

/** What weight-rebalancer consists of, in the order in which it starts. `main` is the address of the program that runs it. */
export function composeWeightRebalancer(service: WeightRebalancer, env: Environment, main: string): void {
  const { settings, clock, log, registry, metrics, decisions, admin } = service;
  const { name } = weightRebalancer;
  const instance = hostname();
  const random = Math.random;
  const common = { clock, random, log };

  // The world: the cluster, shared state, metric servers and targets.
  const kube = service.use(connectKube({ settings, env, userAgent: name, clock, log, metrics: registry }));
  const stateOptions = { service: name, clock, log, registry, deadline: settings.stateDeadline };
  const state = service.use(openState(settings.state, stateOptions));
  const reflected = registry.register(reflectorMetrics);
  const stores = (settings.watchNamespaces ?? [undefined]).map((namespace) => {
    const store = new Store<StoredRebalance>({ log });
    const what = namespace === undefined ? "rebalances" : `rebalances in ${namespace}`;
    const about = { name: what, resource: kube.resource(rebalances), store, selection: { namespace } };
    service.use(new Reflector({ ...common, ...about, metrics: reflected }));
    return store;
  });
  const store = joinStores(stores);
  const { allowCrossNamespaceSecrets: allowCrossNamespace, route53Rate, route53BatchWindow } = settings;
  const secretReader = new KubeSecrets({ resource: kube.resource(secrets), clock, allowCrossNamespace });
  const outward = { ...common, env, secrets: secretReader };
  const prometheus = service.use(
    new PrometheusSources({ ...outward, proxyFor: (server) => proxyFor(server, env), queries: metrics.queries }),
  );
  const limits = { rate: route53Rate, batchWindow: route53BatchWindow };
  const route53 = service.use(new Route53Targets({ ...outward, ...limits, calls: metrics.route53Calls }));
  const outside = outsideOf({ prometheus, route53, httpRoutes: kube.resource(httpRoutes) });
  const original = new ForeignLease({ leases: kube.resource(leases), name: settings.originalLease, clock, log });
  const observer = new Observer({ outside, original, clock });

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
  const board = new WeightBoard(store);

  // The loop, on the leader alone.
  if (settings.leaderElect) {
    const lease = { namespace: settings.leaseNamespace, name, identity: instance, timing: settings };
    const urgent = kube.resource(leases, { lane: "urgent" });
    service.electBy(leaseLeadership({ ...common, ...lease, leases: urgent, metrics: registry.register(leaseMetrics) }));
  }
  const reconciler = new Reconciler({
    rebalances: kube.resource(rebalances),
    store,
    outside,
    observer,
    memories: new Memories(state, log),
    statuses: new StatusWriter(kube.resource(rebalances)),
    decisions,
    board,
    metrics,
    registry,
    clock,
    dryRun: settings.dryRun,
  });
  const loop = controller({
    name,
    sources: [specChanges(store, [PAUSED])],
    reconcile: reconciler.reconcile,
    workers: settings.workers,
    clock,
    log,
    metrics: registry.register(controllerMetrics),
    queueMetrics: registry.register(workqueueMetrics),
  });
  service.lead("rebalance", (term) => loop(term).finally(() => board.clear()));

  // The doors.
  const transport = rpcTransport(service);
  if (transport !== "insecure") service.use(transport);
  const rpc = rpcServer(service, transport, new CachedAuthorizer(new AccessReviewer(kube), { clock }));
  rpc.add(decisionsService({ source: stream, recording: (id) => decisions.recording(id) }));
  rpc.add(weightsService({ board, store, observer, rebalances: kube.resource(rebalances), clock }));
  rpc.serveJson(admin.routes);
  dashboard(service, main);
  service.open(rpc);
}
