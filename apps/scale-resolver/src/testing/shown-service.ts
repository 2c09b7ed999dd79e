import { Store } from "@evenkeel/kube";
import { FakeClock } from "@evenkeel/runtime/testing";
import type { Stage } from "../decide/state.ts";
import { stateDecider } from "../decide/state-decider.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import type { ReplicaActivity, SeenActivity } from "../gateway/activities.ts";
import { added, type SharedActivity } from "../gateway/activity-reports.ts";
import { Board, type BoardOptions, type ReconcileResult } from "../serve/board.ts";
import { silence } from "./loopback-rpc.ts";
import { type Changes, NOON, quietService } from "./quiet-service.ts";

/** An ElastiService in the namespace `shop` for the Service of the same name. */
export function stored(name: string, changes: Partial<StoredElastiService> = {}): StoredElastiService {
  return {
    apiVersion: "elasti.truefoundry.com/v1alpha1",
    kind: "ElastiService",
    metadata: { namespace: "shop", name },
    spec: { service: name, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name } },
    ...changes,
  };
}

/** The result of a reconcile of the quiet service at noon. */
export function reconciled(changes: Changes = {}, rest: Partial<ReconcileResult> = {}): ReconcileResult {
  const snapshot = quietService(changes);
  const decision = { ...stateDecider.decide(snapshot), at: NOON, dryRun: snapshot.dryRun };
  const { state, ...before } = snapshot.stage;
  const moved: Stage = { ...before, state: decision.after, since: Date.parse(NOON) };
  return { snapshot, decision, stage: decision.after === state ? snapshot.stage : moved, lastWakeMs: null, ...rest };
}

/** The activity of a Service with reports from all replicas. */
export function seenBy(...parts: readonly Partial<ReplicaActivity>[]): SeenActivity {
  const nothing = { pending: 0, inFlight: 0, requests: 0, lastRequestAt: null, requestRate: 0 };
  const whole = parts.map((part) => ({ replica: "a", ...nothing, ...part }));
  return { total: whole.reduce<SharedActivity>(added, nothing), parts: whole, gap: null };
}

/** A board with ElastiServices that a test stores, at noon. `told` has the reported Services. */
export function boardOf(options: Partial<BoardOptions> = {}) {
  const store = new Store<StoredElastiService>({ log: silence });
  const clock = new FakeClock(NOON);
  const board = new Board({ store, clock, ...options });
  const told: string[] = [];
  board.subscribe((key) => told.push(key));
  return { store, clock, board, told };
}
