import { ForeignLease, keepOnly, KeyNotifier, leases, nodes, PAUSED, specChanges, StatusWriter } from "@evenkeel/kube";
import { ObjectBoard, objectsService, operatorFrame } from "@evenkeel/operator";
import type { Environment, Service } from "@evenkeel/runtime";
import { collectorsName } from "./act/collector-objects.ts";
import { isFault } from "./act/status.ts";
import { Workloads } from "./act/workloads.ts";
import { collectorLoadBalancers } from "./collector-load-balancer-resource.ts";
import type { FleetReason } from "./decide/fleet-decider.ts";
import type { collectorScheduler } from "./definition.ts";
import { Fleets } from "./fleets.ts";
import { Catalogue } from "./observe/catalogue.ts";
import { Seats } from "./observe/collectors.ts";
import { followAutoscalers } from "./observe/follow-autoscalers.ts";
import { followCollectors } from "./observe/follow-collectors.ts";
import { FleetLoads, seriesClient } from "./observe/fleet-loads.ts";
import { FleetObserver } from "./observe/fleet-observer.ts";
import { KubernetesFeeds } from "./observe/kubernetes/kubernetes-feeds.ts";
import { MetaNames } from "./observe/kubernetes/meta-labels.ts";
import { NodeZones } from "./observe/node-zones.ts";
import { restartState } from "./observe/restart-state.ts";
import { FleetReconciler } from "./reconciler.ts";
import { collectorsService } from "./serve/collectors-service.ts";
import { fleetView } from "./serve/fleet-view.ts";
import { PollReports } from "./serve/poll-reports.ts";
import { TargetAllocator } from "./serve/target-allocator.ts";

type CollectorScheduler = Service<
  (typeof collectorScheduler)["settings"],
  (typeof collectorScheduler)["metrics"],
  (typeof collectorScheduler)["decider"]
>;

/**
 * The parts of collector-scheduler, in the order in which they start. `main` is the URL of the program that runs it.
 */
export function composeCollectorScheduler(service: CollectorScheduler, env: Environment, main: string): void {
  const { settings, clock, log, metrics, decisions } = service;
  const frame = operatorFrame(service, { env, main });
  const { kube, state, common, certificates, use } = frame;
  const resource = kube.resource(collectorLoadBalancers);
  const scheme = certificates === undefined ? "http" : "https";

  // The world: collectors, their targets, and the original that must not act at the same time.
  const store = frame.reflect(collectorLoadBalancers);
  const collectors = followCollectors(frame, settings.watchNamespaces);
  const autoscalers = followAutoscalers(frame, settings.watchNamespaces);
  const zones = new NodeZones(frame.reflect(nodes, { transform: keepOnly("metadata.labels"), optional: true }), clock);
  const original = new ForeignLease({ leases: kube.resource(leases), name: settings.originalLease, clock, log });
  const feeds = new KubernetesFeeds({ kube, ...common });
  const discovery = { feeds, names: new MetaNames(), clock, files: settings.discoveryFiles };

  // Who scrapes what, on every replica.
  const changes = new KeyNotifier();
  const fleets = use(
    new Fleets({
      store,
      state,
      catalogue: () => new Catalogue({ clock, discovery, zones, maxTargets: settings.maxTargets }),
      limits: {
        scope: settings.discoveryScope,
        files: settings.discoveryFiles,
        watched: settings.watchNamespaces,
      },
      changed: (key) => changes.notify(key),
      isRollingOut: (namespace, name) => {
        const set = `${namespace}/${collectorsName(name)}`;
        const { outdated } = restartState({}, collectors.statefulSets.get(set), [...collectors.pods.by("set", set)]);
        return outdated !== null && outdated.length > 0;
      },
      clock,
      log,
    }),
  );

  const polls = use(new PollReports({ fleets, state, instance: frame.instance, clock, log }));
  const loads = new FleetLoads({ client: use(seriesClient(clock, env)), clock });

  // The loop, on the leader alone.
  frame.announce({ isWarning: ({ reason }) => isFault(reason as FleetReason) });
  const board = new ObjectBoard({ store, view: fleetView });
  const seats = new Seats();
  frame.reconcile({
    name: "fleets",
    type: collectorLoadBalancers,
    store,
    sources: [specChanges(store, [PAUSED]), ...collectors.changes, autoscalers.changes, changes, zones.awaited()],
    board,
    reconciler: new FleetReconciler({
      ...{ fleets, seats, loads, decisions, board, state, metrics, clock, interval: settings.interval },
      observer: new FleetObserver({
        ...{ collectors, seats, original, clock, loads },
        zoneOf: (node) => zones.zoneOf(node),
        polls: (fleet) => polls.read(fleet),
        lastPolls: (fleet, members) => polls.lastPolls(fleet, members),
        autoscalers: autoscalers.store,
      }),
      workloads: new Workloads({ kube, clock }),
      statuses: new StatusWriter(resource),
      targetUrl:
        settings.targetUrl ?? `${scheme}://${service.name}.${settings.leaseNamespace}.svc:${settings.targetPort}`,
      ca: () => certificates?.current.ca?.toString(),
    }),
  });

  // The servers.
  const allocator = service.open(
    new TargetAllocator({
      ...{ host: settings.listenHost, port: settings.targetPort, tls: certificates !== undefined, metrics, clock },
      answer: (request, isPoll) => fleets.answer(request, isPoll),
    }),
  );
  certificates?.onChange((renewed) => allocator.secure(renewed));
  frame.serve(objectsService({ type: collectorLoadBalancers, resource, board }));
  frame.serve(collectorsService({ fleets, store, clock, weigh: loads.weigh.bind(loads) }));
  frame.open();
}
