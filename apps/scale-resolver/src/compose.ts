import { controller, KeyNotifier, leases, nameKey, PAUSED, specChanges, StatusWriter } from "@evenkeel/kube";
import { operatorFrame } from "@evenkeel/operator";
import { type Environment, proxyFor, type Service } from "@evenkeel/runtime";
import { acts } from "./act/acts.ts";
import { Autoscalers } from "./act/autoscalers.ts";
import { leftOutFamilies } from "./act/path-plan.ts";
import { PathProbe } from "./act/path-probe.ts";
import { PortAllocator } from "./act/port-allocator.ts";
import { portRangeOf } from "./act/port-range.ts";
import { Scales } from "./act/scales.ts";
import { needsAttention } from "./act/status.ts";
import { serviceKey, type TargetRef } from "./binding.ts";
import type { scaleResolver } from "./definition.ts";
import { elastiServices, RELEASE } from "./elasti-service-resource.ts";
import { gateway } from "./gateway/gateway.ts";
import { ClusterView } from "./observe/cluster-view.ts";
import { Keda } from "./observe/keda.ts";
import { Observer } from "./observe/observer.ts";
import { OriginalOperator } from "./observe/original-operator.ts";
import { countReplicas, withoutSilent } from "./observe/resolver-endpoints.ts";
import { resolverChanges, ownershipChanges, serviceChanges } from "./observe/sources.ts";
import { Memories } from "./observe/stages.ts";
import { Targets } from "./observe/targets.ts";
import { Readings } from "./observe/triggers/readings.ts";
import { Triggers } from "./observe/triggers/triggers.ts";
import { ElastiServiceReconciler } from "./reconciler.ts";
import { Board } from "./serve/board.ts";
import { drainService } from "./serve/drain-service.ts";
import { externalScalerService, scaledServiceViews } from "./serve/external-scaler.ts";
import { Preparations } from "./serve/preparations.ts";
import { resolverService } from "./serve/resolver-service.ts";
import { wakeOnDemand } from "./serve/wake-on-demand.ts";

type ScaleResolver = Service<
  (typeof scaleResolver)["settings"],
  (typeof scaleResolver)["metrics"],
  (typeof scaleResolver)["decider"]
>;

/** Builds the parts of scale-resolver in the order in which they start. `main` is the URL of the program. */
export function composeScaleResolver(service: ScaleResolver, env: Environment, main: string): void {
  const { settings, clock, log, registry, metrics, decisions } = service;
  const frame = operatorFrame(service, { env, main, instance: settings.podName });
  const { kube, state, common, instance, use } = frame;
  const { leaseNamespace: namespace, resolverService: ownName, triggerInterval: interval, dryRun } = settings;
  const own = ownName === undefined ? undefined : { namespace, name: ownName };

  // Inputs: the cluster, metric servers, workloads, and the original's operator, which must not act at the same time.
  const view = new ClusterView({ reflect: frame.reflect.bind(frame), own, podIps: settings.podIp });
  // While no replica leads, no Service whose last pod terminates is redirected.
  view.ownSlices?.subscribe(() => frame.expectRelease());
  const prometheus = { address: settings.prometheusAddress, proxyFor: (server: URL) => proxyFor(server, env) };
  const triggers = use(new Triggers({ ...common, ...prometheus, interval }));
  const operator = new OriginalOperator({ leases: kube.resource(leases), name: settings.originalLease, clock, log });
  const original = () => operator.running();
  const workloads = { scales: new Scales(kube), autoscalers: new Autoscalers(kube) };

  // The gateway, on every replica.
  const reconcileRequests = new KeyNotifier();
  const activityChanges = new KeyNotifier();
  const silences = new KeyNotifier();
  const changed = (key: string) => {
    activityChanges.notify(key);
    const owner = view.ownerKey(key);
    if (owner !== undefined) reconcileRequests.notify(owner);
  };
  const { gate, wakeTimer, activities, waker } = gateway({
    ...{ ...common, ...workloads, settings, view, state, instance, registry, metrics, changed, use },
    woken: (key, wake) => board.woken(key, wake),
    silenceChanged: () => silences.notify(instance),
    open: (server) => void service.open(server),
  });
  const resolvers = () => withoutSilent(view.resolvers(), activities.silent());

  // The control loop, only on the leader.
  frame.announce({ isWarning: needsAttention });
  const board: Board = use(new Board({ store: view.objects, clock, activity: (key) => activities.seen(key) }));
  const preparations = use(new Preparations({ clock, changed }));
  service.afterTerm(() => preparations.forgetAll());
  const resource = kube.resource(elastiServices);
  const probe = new PathProbe({
    ...common,
    connections: ({ metadata: { namespace: of = "", name = "" } }, port) =>
      gate.connections(serviceKey(of, name), port),
  });
  const portRange = portRangeOf(settings.portRange);
  const replicas = (of: string, target: TargetRef, signal: AbortSignal) =>
    workloads.scales.read(of, target, { signal });
  const observer = new Observer({
    ...{ view, original, clock, settle: settings.settle, portRange },
    ownPorts: [settings.port, settings.adminPort, settings.healthPort, settings.grpcPort],
    replicas,
    triggers: (binding) => readings.read(binding),
    activity: (key) => activities.read(key),
    resolvers: () => countReplicas(resolvers()),
    unreached: (of) => leftOutFamilies(of, resolvers()),
    unbound: (key) => gate.unbound(key),
    drainPrepared: (of, prepared) => preparations.isPrepared(of, prepared),
    prove: settings.pathProbe ? (of, round, signal) => probe.prove(of, round, signal) : undefined,
  });
  const never = new AbortController().signal;
  const readings = new Readings({
    clock,
    // Each query has a timeout of its own.
    read: (binding) => triggers.read(binding, never),
    arrived: (binding) => reconcileRequests.notify(nameKey(binding)),
  });
  const statuses = new StatusWriter(resource);
  const { path, repoint, ...writers } = acts({
    ...{ ...common, ...workloads, settings, own, kube, view, original, resolvers, use },
    ...{ elastiServices: resource, statuses },
    grpcAddress: `${ownName ?? service.name}.${namespace}:${settings.resolverGrpcPort ?? settings.grpcPort}`,
    activity: (key) => activities.read(key, true),
    hasWoken: waker.hasWoken.bind(waker),
    woken: (key) => wakeTimer.count(key),
  });
  const reconciler = new ElastiServiceReconciler({
    ...{ ...writers, path, elastiServices: resource, statuses, view, observer, original, decisions, board, wakeTimer },
    ...{ metrics, registry, clock, dryRun, interval },
    memories: new Memories(),
    targets: new Targets({ kube, clock, interval, replicas, keda: new Keda({ kube, clock }) }),
    ports: new PortAllocator(view.objects, portRange, clock),
  });
  const onReplicaChanges = (which: "all" | "redirected") =>
    [view.ownSlices ?? [], silences].flat().map((changes) => resolverChanges(view.objects, changes, which));
  const sources = [
    specChanges(view.objects, [PAUSED, RELEASE]),
    ownershipChanges(view.objects),
    ...serviceChanges(view, (key) => gate.isReleasing(key)),
    ...onReplicaChanges("redirected"),
    reconcileRequests,
  ];
  const { workers } = settings;
  service.lead(
    "repoint",
    controller({ name: "repoint", sources: onReplicaChanges("all"), reconcile: repoint, workers, clock, log }),
  );
  frame.reconcile({ name: "switch", type: elastiServices, store: view.objects, sources, reconciler, board });

  // The servers.
  const wake = wakeOnDemand({ ...workloads, binding: view.binding, log, changed });
  frame.serve(resolverService({ board, elastiServices: resource, wake, clock }));
  frame.serve(drainService({ preparations, board, clock, endpoints: view.endpoints, relay: frame.relay("drains") }));
  const hear = (listener: (key: string) => void) => activityChanges.subscribe(listener);
  const readScale = (of: string, target: TargetRef) => workloads.scales.read(of, target, { deadline: 2000 });
  frame.serve(externalScalerService({ ...scaledServiceViews(view, board, activities, hear, readScale), clock }));
  frame.open();
}
