import { evict, ForeignLease, leases, PAUSED, specChanges, StatusWriter } from "@evenkeel/kube";
import { ObjectBoard, objectsService, operatorFrame } from "@evenkeel/operator";
import type { Environment, Service } from "@evenkeel/runtime";
import { Evictor } from "./act/evictor.ts";
import { Ledger } from "./act/ledger.ts";
import { isFault } from "./act/status.ts";
import type { PolicyReason } from "./decide/policy-decider.ts";
import type { evictionPlanner } from "./definition.ts";
import { Measures } from "./measures.ts";
import { followCluster } from "./observe/cluster/follow-cluster.ts";
import { Planning } from "./observe/planning.ts";
import { UsageReader } from "./observe/usage/usage-reader.ts";
import { usageSource } from "./observe/usage/usage-source.ts";
import { planInWorker } from "./observe/worker/plan-in-worker.ts";
import { rebalancePolicies } from "./policy-resource.ts";
import { PolicyReconciler } from "./reconciler.ts";
import { policyView } from "./serve/plan-view.ts";

type EvictionPlanner = Service<
  (typeof evictionPlanner)["settings"],
  (typeof evictionPlanner)["metrics"],
  (typeof evictionPlanner)["decider"]
>;

/** Bytes of a GiB, and the limit of the original where `--emptydir-threshold-gi` is 0 or less. */
const GIB = 2 ** 30;
const EMPTY_DIR_GIB = 2;

/** The parts of eviction-planner, in the order in which they start. `main` is the URL of the program that runs it. */
export function composeEvictionPlanner(service: EvictionPlanner, env: Environment, main: string): void {
  const { settings, metrics, decisions, clock, log, registry } = service;
  const { syncPeriod, emptydirThresholdGi } = settings;
  const frame = operatorFrame(service, { env, main });
  const { kube, state } = frame;

  // The world: policies, the cluster, its usage, and the original that must not act at the same time.
  const store = frame.reflect(rebalancePolicies);
  const cluster = followCluster(frame);
  const source = usageSource(settings, { ...frame.common, kube, env, use: frame.use });
  const planning = new Planning({
    cluster,
    usage: new UsageReader({ source, clock, fresh: syncPeriod / 2 }),
    plan: (snapshot, signal) => planInWorker(snapshot, main, signal),
    clock,
    emptyDirLimit: (emptydirThresholdGi > 0 ? emptydirThresholdGi : EMPTY_DIR_GIB) * GIB,
  });
  const original = new ForeignLease({ leases: kube.resource(leases), name: settings.originalLease, clock, log });

  // The loop, on the leader alone.
  frame.announce({ isWarning: ({ reason }) => isFault(reason as PolicyReason) });
  const evictor = new Evictor({
    ledger: new Ledger(state, log),
    podNow: (key) => cluster.pod(key),
    evict: (pod, uid, signal) => evict(kube, pod, { uid, signal }),
    planTtl: settings.planTtl,
    metrics,
    clock,
    log,
  });
  const board = new ObjectBoard({ store, view: policyView });
  frame.reconcile({
    name: "policies",
    type: rebalancePolicies,
    store,
    sources: [specChanges(store, [PAUSED])],
    board,
    reconciler: new PolicyReconciler({
      evictor,
      dryRun: settings.dryRun,
      planning,
      original,
      statuses: new StatusWriter(kube.resource(rebalancePolicies)),
      decisions,
      board,
      state,
      metrics,
      measures: new Measures({ metrics, registry }),
      clock,
      syncPeriod,
      namespaces: settings.watchNamespaces,
    }),
  });

  // The servers.
  frame.serve(objectsService({ type: rebalancePolicies, resource: kube.resource(rebalancePolicies), board }));
  frame.open();
}
