import { evict, ForeignLease, leases, PAUSED, specChanges, StatusWriter } from "@evenkeel/kube";
import { ObjectBoard, operatorFrame } from "@evenkeel/operator";
import type { Environment, Service } from "@evenkeel/runtime";
import { drainPeers } from "./act/connect-drain-peers.ts";
import { Evictor } from "./act/evictor.ts";
import { GuardRails } from "./act/guard-rails.ts";
import { LastCheck } from "./act/last-check.ts";
import { Ledger } from "./act/ledger.ts";
import { isFault, lastExecutionOf } from "./act/status.ts";
import { restartRollout } from "./act/surge.ts";
import { TRUST_LANDINGS_SINCE } from "./decide/evictions.ts";
import { type PolicyReason, verdictOfGo } from "./decide/policy-decider.ts";
import { isSurged } from "./decide/single-replica.ts";
import type { evictionPlanner } from "./definition.ts";
import { NoPlanYet } from "./errors.ts";
import { Measures } from "./measures.ts";
import { followCluster } from "./observe/cluster/follow-cluster.ts";
import { Planning } from "./observe/planning.ts";
import { UsageReader } from "./observe/usage/usage-reader.ts";
import { usageSource } from "./observe/usage/usage-source.ts";
import { studyInWorker } from "./observe/worker/plan-in-worker.ts";
import { rebalancePolicies } from "./policy-resource.ts";
import { narrowed, PolicyReconciler } from "./reconciler.ts";
import { dashboardData } from "./serve/dashboard-data.ts";
import { evictionsService } from "./serve/evictions-service.ts";
import { policyView } from "./serve/plan-view.ts";
import { Studies } from "./serve/studies.ts";

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
  const resource = kube.resource(rebalancePolicies);

  // The world: policies, the cluster, its usage, and the original that must not act at the same time.
  const store = frame.reflect(rebalancePolicies);
  const cluster = followCluster(frame);
  const source = usageSource(settings, { ...frame.common, kube, env, use: frame.use });
  const planning = new Planning({
    cluster,
    usage: new UsageReader({ source, clock, fresh: syncPeriod / 2 }),
    policies: () => store.values(),
    study: (snapshot, further, signal) => studyInWorker(snapshot, further, main, signal),
    clock,
    surges: settings.allowSurge,
    inFlight: () => evictor.record?.evictions.filter(({ landed }) => landed === null) ?? [],
    emptyDirLimit: (emptydirThresholdGi > 0 ? emptydirThresholdGi : EMPTY_DIR_GIB) * GIB,
  });
  const leaseNamed = (name: string) => new ForeignLease({ leases: kube.resource(leases), name, clock, log });
  const original = leaseNamed(settings.originalLease);

  // The loop, on the leader alone.
  frame.announce({ isWarning: ({ reason }) => isFault(reason as PolicyReason) });
  const evictor = new Evictor({
    ledger: new Ledger(state, log),
    lastCheck: new LastCheck({ cluster, clock, planTtl: settings.planTtl }),
    peers: drainPeers(settings.drainPeers, { frame, registry }),
    decided: (verdict, snapshot) => {
      const { object } = decisions.record(verdictOfGo(snapshot, verdict), snapshot.at, () => JSON.stringify(snapshot));
      // The next pod of this name is another one.
      if (verdict.go || verdict.reason === "PodChanged") decisions.forget(object);
    },
    isSurge: ({ owner }, { cluster: { owners, slos } }) =>
      isSurged(
        owners.find(({ uid }) => uid === owner),
        slos,
      ),
    evict: (pod, _move, call) => evict(kube, pod, { uid: pod.uid, ...call }),
    surge: (move, planned, call) => restartRollout(kube, move, planned, clock, call),
    trustSince: () =>
      Math.max(...Array.from(store.values(), ({ metadata }) => timeOf(metadata.annotations?.[TRUST_LANDINGS_SINCE]))),
    lastExecution: () => Math.max(...Array.from(store.values(), ({ status }) => timeOf(lastExecutionOf(status)))),
    metrics,
    syncPeriod,
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
      cluster,
      evictor,
      dryRun: settings.dryRun,
      planning,
      original,
      descheduler: leaseNamed(settings.deschedulerLease),
      guardRails: new GuardRails({ kube, objects: () => cluster.objects(), clock, log }),
      statuses: new StatusWriter(resource),
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
  frame.serve(
    evictionsService({
      ...{ board, store, policies: resource, studies: new Studies(planning) },
      narrowed: (spec) => narrowed(spec, settings.watchNamespaces),
      record: () => evictor.record,
      recall: (policy) => evictor.recallOf(policy),
    }),
  );
  const data = { board, policies: () => store.values(), nodes: () => cluster.objects().nodes, clock };
  service.admin.routes.get("/dashboard/data", (_request, reply) => {
    const answer = dashboardData(data);
    if (answer !== undefined) return reply.send(answer);
    const { code, message } = new NoPlanYet({});
    return reply.code(503).send({ code, message });
  });
  frame.open();
}

/** Milliseconds since the epoch; 0 for what is no time. */
function timeOf(text = ""): number {
  return Date.parse(text) || 0;
}
