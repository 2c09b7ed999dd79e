import { ForeignLease, httpRoutes, leases, PAUSED, secrets, specChanges, StatusWriter } from "@evenkeel/kube";
import { ObjectBoard, operatorFrame } from "@evenkeel/operator";
import { ServerGuards } from "@evenkeel/prometheus";
import { type Environment, proxyFor, type Service } from "@evenkeel/runtime";
import { isWarning } from "./act/status.ts";
import type { weightRebalancer } from "./definition.ts";
import { Claims, claimedTargets } from "./observe/claims.ts";
import { Memories } from "./observe/memories.ts";
import { Observer } from "./observe/observer.ts";
import { PrometheusSources } from "./observe/prometheus/prometheus-sources.ts";
import { KubeSecrets } from "./observe/secrets.ts";
import { outsideOf } from "./outside.ts";
import { PendingChanges } from "./pending-changes.ts";
import { rebalances } from "./rebalance-resource.ts";
import { RebalanceReconciler } from "./reconciler.ts";
import { Reverts } from "./reverts.ts";
import { weightOf } from "./serve/weight-view.ts";
import { weightsService } from "./serve/weights-service.ts";
import { Route53Targets } from "./targets/route53/route53-targets.ts";

type WeightRebalancer = Service<
  (typeof weightRebalancer)["settings"],
  (typeof weightRebalancer)["metrics"],
  (typeof weightRebalancer)["decider"]
>;

/** The parts of weight-rebalancer, in the order in which they start. `main` is the URL of the program that runs it. */
export function composeWeightRebalancer(service: WeightRebalancer, env: Environment, main: string): void {
  const { settings, metrics, decisions, clock, log } = service;
  const frame = operatorFrame(service, { env, main });
  const { kube } = frame;

  // The world: Rebalances, metric servers, targets, and the original that must not act at the same time.
  const {
    allowCrossNamespaceSecrets: allowCrossNamespace,
    route53Rate: rate,
    route53BatchWindow: batchWindow,
    allowAmbientCredentials = [],
    prometheusAllow = [],
  } = settings;
  const secretReader = new KubeSecrets({ resource: kube.resource(secrets), clock, allowCrossNamespace });
  const outward = { ...frame.common, env, secrets: secretReader };
  const prometheus = frame.use(
    new PrometheusSources({
      ...outward,
      proxyFor: (server) => proxyFor(server, env),
      guards: new ServerGuards(prometheusAllow),
      queries: metrics.queries,
    }),
  );
  const ambient = new Set(allowAmbientCredentials);
  const route53 = frame.use(
    new Route53Targets({ ...outward, rate, batchWindow, ambient, calls: metrics.route53Calls }),
  );
  const outside = outsideOf({ prometheus, route53, httpRoutes: kube.resource(httpRoutes) });
  const store = frame.reflect(rebalances, { indexes: { target: claimedTargets(outside) } });
  const original = new ForeignLease({ leases: kube.resource(leases), name: settings.originalLease, clock, log });
  const claims = new Claims(store, outside);
  const observer = new Observer({ outside, original, claims, clock });

  // The loop, on the leader alone.
  const events = frame.announce({ isWarning });
  const board = new ObjectBoard({ store, view: weightOf });
  const { dryRun } = settings;
  const acts = { rebalances: kube.resource(rebalances), outside, clock, dryRun };
  const statuses = new StatusWriter(kube.resource(rebalances));
  const reconciler = new RebalanceReconciler({
    ...acts,
    observer,
    claims,
    memories: new Memories(frame.state, log),
    statuses,
    pending: new PendingChanges({ outside, statuses, clock }),
    reverts: new Reverts({ ...acts, claims, original, statuses, events }),
    decisions,
    board,
    metrics,
  });
  const sources = [specChanges(store, [PAUSED])];
  frame.reconcile({ name: "rebalance", type: rebalances, store, sources, reconciler, board });

  // The servers.
  frame.serve(weightsService({ board, store, observer, rebalances: kube.resource(rebalances), clock }));
  frame.open();
}
