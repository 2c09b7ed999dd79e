import { hostname } from "node:os";
import { dashboard } from "@evenkeel/dashboard";
import {
  AccessReviewer,
  connectKube,
  controller,
  controllerMetrics,
  events,
  EventRecorder,
  eventSink,
  joinStores,
  leaseLeadership,
  leases,
  Reflector,
  secrets,
  Store,
} from "@evenkeel/kube";
import { CachedAuthorizer, decisionsService, rpcServer, rpcTransport } from "@evenkeel/rpc";
import { type Environment, proxyFor, type Service } from "@evenkeel/runtime";
import { DecisionStream, openState } from "@evenkeel/state";
import { httpRoutes } from "./act/http-route.ts";
import { Route53Targets } from "./act/route53/route53-targets.ts";
import { StatusWriter } from "./act/status-writer.ts";
import { isBadNews } from "./act/status.ts";
import { weightRebalancer } from "./definition.ts";
import { Memories } from "./observe/memories.ts";
import { Observer } from "./observe/observer.ts";
import { OriginalLease } from "./observe/original-lease.ts";
import { PrometheusSources } from "./observe/prometheus/prometheus-sources.ts";
import { KubeSecrets } from "./observe/secrets.ts";
import { specChanges } from "./observe/spec-changes.ts";
import { outsideOf } from "./outside.ts";
import { rebalances, referenceOf, type StoredRebalance } from "./rebalance-resource.ts";
import { WeightBoard } from "./serve/weight-board.ts";
import { weightsService } from "./serve/weights-service.ts";
import { Turns } from "./turn.ts";

type WeightRebalancer = Service<
  (typeof weightRebalancer)["settings"],
  (typeof weightRebalancer)["metrics"],
  (typeof weightRebalancer)["decider"]
>;

/** What weight-rebalancer consists of, in the order in which it starts. `main` is the address of the program that runs it. */
export function composeWeightRebalancer(service: WeightRebalancer, env: Environment, main: string): void {
  const { settings, clock, log, registry, metrics, decisions, admin } = service;
  const random = Math.random;
  const { name } = weightRebalancer;

  // The world: the cluster, shared state, metric servers and targets.
  const kube = service.use(connectKube({ settings, env, userAgent: name, clock, log, metrics: registry }));
  const stateOptions = { service: name, clock, log, registry, deadline: settings.stateDeadline };
  const state = service.use(openState(settings.state, stateOptions));
  const stores = (settings.watchNamespaces ?? [undefined]).map((namespace) => {
    const store = new Store<StoredRebalance>({ log });
    const what = namespace === undefined ? "rebalances" : `rebalances in ${namespace}`;
    const resource = kube.resource(rebalances);
    service.use(new Reflector({ name: what, resource, store, clock, random, log, selection: { namespace } }));
    return store;
  });
  const store = joinStores(stores);
  const secretReader = new KubeSecrets({
    resource: kube.resource(secrets),
    clock,
    allowCrossNamespace: settings.allowCrossNamespaceSecrets,
  });
  const prometheus = service.use(
    new PrometheusSources({
      clock,
      log,
      secrets: secretReader,
      proxyFor: (server) => proxyFor(server, env),
      queries: metrics.queries,
    }),
  );
  const route53 = service.use(
    new Route53Targets({
      clock,
      log,
      random,
      rate: settings.route53Rate,
      batchWindow: settings.route53BatchWindow,
      env,
      calls: metrics.route53Calls,
      secrets: secretReader,
    }),
  );
  const outside = outsideOf({ prometheus, route53, httpRoutes: kube.resource(httpRoutes) });
  const original = new OriginalLease({ leases: kube.resource(leases), name: settings.originalLease, clock, log });
  const observer = new Observer({ outside, original, clock });

  // Who hears of decisions.
  const instance = hostname();
  const recorder = service.use(
    new EventRecorder({
      events: kube.resource(events),
      controller: `evenkeel.io/${name}`,
      instance,
      clock,
      random,
      log,
    }),
  );
  const refer = ({ namespace = "", name }: { namespace?: string; name: string }) =>
    referenceOf(store.get(`${namespace}/${name}`));
  decisions.addSink(eventSink({ recorder, refer, isWarning: isBadNews }));
  const stream = service.use(new DecisionStream({ state, clock, log, registry, whileAway: decisions.ring }));
  decisions.addSink(stream);
  const board = new WeightBoard(store);

  // The loop, on the leader alone.
  if (settings.leaderElect) {
    const leaseOf = { namespace: settings.leaseNamespace, name, identity: instance, timing: settings };
    service.electBy(
      leaseLeadership({ ...leaseOf, leases: kube.resource(leases, { lane: "urgent" }), clock, random, log }),
    );
  }
  const turns = new Turns({
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
    sources: [specChanges(store)],
    reconcile: turns.take,
    workers: settings.workers,
    clock,
    log,
    metrics: registry.register(controllerMetrics),
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
