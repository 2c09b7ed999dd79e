import {
  type CollectorLoadBalancerSpec,
  type CollectorLoadBalancerStatus,
  parseCollectorLoadBalancer,
} from "@evenkeel/api";
import {
  keyOf,
  kubeErrors,
  type ObjectName,
  type ReconcileContext,
  type Result,
  type StatusWriter,
} from "@evenkeel/kube";
import type { Metrics } from "@evenkeel/metrics";
import type { ObjectContext, Reconciler } from "@evenkeel/operator";
import { type Clock, type DecisionOf, type Decisions, explain, snapshotText } from "@evenkeel/runtime";
import type { State } from "@evenkeel/state";
import { CA_PATH, collectorLabels, collectorObjects, MAX_NAME, selectorText } from "./act/collector-objects.ts";
import { findingsOf } from "./act/findings.ts";
import type { ForeignObject } from "./act/foreign-object.ts";
import { podTemplateFault } from "./act/pod-template.ts";
import { statusAfter, statusAfterFailure } from "./act/status.ts";
import type { Workloads } from "./act/workloads.ts";
import type { StoredCollectorLoadBalancer } from "./collector-load-balancer-resource.ts";
import { rewritten } from "./config/collector-configuration.ts";
import { assignmentsAfter, handOversAfter } from "./decide/assignments-after.ts";
import { type fleetDecider, verdictOf } from "./decide/fleet-decider.ts";
import { type FleetPlan, planOf } from "./decide/plan.ts";
import type { Fleet } from "./fleet.ts";
import type { Fleets } from "./fleets.ts";
import { measure, measureMoves } from "./measure.ts";
import type { metrics } from "./metrics.ts";
import type { Seats } from "./observe/collectors.ts";
import type { FleetLoads } from "./observe/fleet-loads.ts";
import type { FleetObserver, FleetSight } from "./observe/fleet-observer.ts";
import { targetRefresh } from "./observe/fleet-settings.ts";
import { type FleetBoard, loadRange } from "./serve/fleet-view.ts";
import { Movement } from "./serve/movement.ts";
import { endpointPath } from "./serve/request-path.ts";

export interface FleetReconcilerOptions {
  readonly fleets: Pick<Fleets, "get" | "endTerm">;
  readonly observer: FleetObserver;
  readonly seats: Seats;
  readonly loads: Pick<FleetLoads, "forget">;
  readonly workloads: Workloads;
  readonly statuses: StatusWriter<StoredCollectorLoadBalancer, CollectorLoadBalancerStatus>;
  readonly decisions: Pick<Decisions<typeof fleetDecider>, "record">;
  readonly board: FleetBoard;
  readonly state: Pick<State, "available" | "forget">;
  readonly metrics: Metrics<typeof metrics>;
  readonly clock: Clock;
  /** Milliseconds between two reconciles of an object that does not change. */
  readonly interval: number;
  /** Where collectors reach the target API, without a path. */
  readonly targetUrl: string;
  /** The CA that signed the certificate of the target API; undefined without TLS. */
  readonly ca: () => string | undefined;
}

type WorkloadFault = { readonly reason: string; readonly message: string } | undefined;

/** Milliseconds until an object is reconciled again while targets change their collector: polls are looked for. */
const HAND_OVER_INTERVAL = 1000;

/**
 * Reconciles one CollectorLoadBalancer: observe, decide, record who owns what, keep its collectors, write the status.
 */
export class FleetReconciler implements Reconciler<StoredCollectorLoadBalancer> {
  readonly #options: FleetReconcilerOptions;
  readonly #movement = new Movement();

  constructor(options: FleetReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(object: StoredCollectorLoadBalancer, context: ObjectContext): Promise<Result | undefined> {
    const { fleets, observer, decisions, clock, interval } = this.#options;
    if (object.metadata.deletionTimestamp !== undefined) return undefined;
    const parsed = parseCollectorLoadBalancer(object);
    const faults = parsed.ok ? [podTemplateFault(parsed.value.spec.podTemplate) ?? []].flat() : parsed.errors;
    if (!parsed.ok || faults.length > 0) {
      await this.#reportInvalid(object, faults, context);
      return undefined;
    }
    const { spec } = parsed.value;
    const fleet = fleets.get(keyOf(object));
    // The store tells the fleets and this reconcile in any order.
    if (fleet === undefined || fleet.uid !== object.metadata.uid) return { requeueAfter: HAND_OVER_INTERVAL };
    const sight = await observer.observe(object, spec, fleet, context);
    const { snapshot } = sight;
    const plan = planOf(snapshot);
    const decision = decisions.record(verdictOf(snapshot, plan), snapshot.at, () => snapshotText(snapshot));
    const { moved, workloadFault } = await this.#act(object, spec, { fleet, sight, plan, decision }, context);
    await this.#report(object, { fleet, sight, plan, decision, moved, workloadFault }, context);
    const wakeIn = plan.wakeAt === null ? interval : Math.max(0, plan.wakeAt - clock.now());
    return { requeueAfter: Math.min(plan.handingOver > 0 ? HAND_OVER_INTERVAL : interval, wakeIn) };
  }

  async failed(object: StoredCollectorLoadBalancer, error: unknown, { signal }: ReconcileContext): Promise<void> {
    const { statuses, metrics: table, clock } = this.#options;
    const { namespace = "", name = "", generation = 0 } = object.metadata;
    table.ready.set({ namespace, name }, 0);
    const about = { error, selector: selectorText(collectorLabels(namespace, name)) };
    await statuses.write(object, (present) => statusAfterFailure(present, about, generation, clock.now()), { signal });
  }

  async forget(_name: ObjectName, uid: string, { term }: ReconcileContext): Promise<void> {
    const { workloads, seats, loads, state } = this.#options;
    workloads.forget(uid);
    seats.forget(uid);
    loads.forget(uid);
    this.#movement.forget(uid);
    if (state.available) await state.forget(uid, { scope: "leader", token: term.fencingToken });
  }

  endTerm(): void {
    const { workloads, seats, fleets } = this.#options;
    workloads.endTerm();
    seats.endTerm();
    fleets.endTerm();
    this.#movement.endTerm();
  }

  /** Records who owns what, then changes the collectors: one that leaves has handed its targets over before. */
  async #act(
    object: StoredCollectorLoadBalancer,
    spec: CollectorLoadBalancerSpec,
    { fleet, sight, plan, decision }: Decided,
    context: ObjectContext,
  ): Promise<{ readonly moved: number; readonly workloadFault: WorkloadFault }> {
    const { snapshot, recorded } = sight;
    let moved = 0;
    // What an earlier reconcile recorded and could not bring to this replica's answers.
    if (recorded !== null) fleet.assign(recorded);
    const isHeld = snapshot.paused || decision.dryRun;
    if (snapshot.stop === null && recorded !== null) {
      const next = (isHeld ? handOversAfter : assignmentsAfter)(recorded, snapshot, plan);
      const moves = isHeld ? [] : plan.moves;
      if (next !== recorded) {
        context.lastLook();
        await fleet.records.keep(next, context.term);
        fleet.assign(next);
        moved = moves.length;
        measureMoves(this.#options.metrics, moves, recorded, next, this.#options.clock.now());
      }
    }
    const stopsCollectors = snapshot.stop !== null && snapshot.stop.reason !== "Waiting";
    if (isHeld || stopsCollectors) return { moved, workloadFault: undefined };
    return { moved, workloadFault: await this.#keepCollectors(object, spec, { fleet, sight, plan }, context) };
  }

  async #keepCollectors(
    object: StoredCollectorLoadBalancer,
    spec: CollectorLoadBalancerSpec,
    { fleet, sight: { snapshot, statefulSet }, plan }: Omit<Decided, "decision">,
    context: ObjectContext,
  ): Promise<WorkloadFault> {
    const { workloads, targetUrl, ca } = this.#options;
    const { namespace = "", name = "" } = object.metadata;
    const { configuration } = fleet;
    const present = snapshot.scale.present;
    // While sources are waited for, the targets of collectors that are to leave are not known.
    const replicas = snapshot.stop === null ? (plan.replicas ?? present) : Math.max(present, plan.scale.wanted ?? 0);
    if (configuration === undefined || (statefulSet === undefined && plan.scale.wanted === null)) return undefined;
    if (name.length > MAX_NAME) {
      const message = `The name has ${name.length} characters, too many for the pods of a StatefulSet: use at most ${MAX_NAME}`;
      return { reason: "NameTooLong", message };
    }
    const authority = ca();
    const objects = collectorObjects(object, {
      spec,
      replicas,
      present: statefulSet,
      partition: plan.partition,
      configuration: rewritten(configuration, {
        endpoint: (receiver) => targetUrl + endpointPath(namespace, name, receiver),
        refresh: targetRefresh(spec),
        ...(authority !== undefined && { caFile: CA_PATH }),
      }),
      secretFiles: new Map(fleet.jobs.flatMap(({ secretFiles }) => [...secretFiles])),
      ca: authority,
    });
    if (!objects.statefulSet.spec?.template.spec?.containers.every(({ image }) => image !== undefined)) {
      return { reason: "NoImage", message: "A collector has no image: set spec.collectorImage" };
    }
    try {
      const outcome = await workloads.apply(object, objects, statefulSet, context);
      if (typeof outcome === "object") return { reason: "NameTaken", message: takenMessage(outcome) };
      if (outcome !== "contested") return undefined;
    } catch (error) {
      if (!(error instanceof kubeErrors.Invalid || error instanceof kubeErrors.Forbidden)) throw error;
      return { reason: "CollectorsRefused", message: `The API server refused the collectors: ${explain(error)}` };
    }
    const message = `Another client rewrites StatefulSet ${name}-collector: stop it, then change this object`;
    return { reason: "Contested", message };
  }

  async #report(object: StoredCollectorLoadBalancer, reconciled: Reported, { term }: ObjectContext): Promise<void> {
    const { statuses, board, metrics: table, state, clock } = this.#options;
    const { namespace = "", name = "", generation = 0 } = object.metadata;
    const { fleet, sight, plan, decision, moved, workloadFault } = reconciled;
    const { snapshot, statefulSet } = sight;
    const about = {
      ...{ fleet, sight, snapshot, plan, decision, workloadFault },
      ...{ stateAvailable: state.available, now: clock.now() },
    };
    const movement = this.#movement.note(fleet.uid, { moved, ...loadRange(snapshot) }, clock.now());
    board.show(object, { decision, snapshot, plan, movement });
    measure(table, about);
    const findings = {
      replicas: statefulSet?.status?.replicas ?? 0,
      selector: selectorText(collectorLabels(namespace, name)),
      targets: snapshot.targetCount,
      conditions: findingsOf(about),
    };
    await statuses.write(object, (present) => statusAfter(present, findings, generation, clock.now()), term);
  }

  async #reportInvalid(
    object: StoredCollectorLoadBalancer,
    faults: readonly string[],
    { log, term }: ObjectContext,
  ): Promise<void> {
    const { statuses, clock } = this.#options;
    const { namespace = "", name = "", generation = 0 } = object.metadata;
    log.warn({ faults }, "the spec is invalid; its collectors stay as they are");
    const message = faults.join("; ");
    const findings = {
      replicas: object.status?.replicas ?? 0,
      selector: selectorText(collectorLabels(namespace, name)),
      targets: object.status?.targets ?? null,
      conditions: { Ready: { holds: false, reason: "InvalidSpec", message } },
    };
    await statuses.write(object, (present) => statusAfter(present, findings, generation, clock.now()), term);
  }
}

function takenMessage({ object, owner }: ForeignObject): string {
  return `${object} exists and belongs to ${owner}, so no collector is created or changed: delete it, or rename this object`;
}

interface Decided {
  readonly fleet: Fleet;
  readonly sight: FleetSight;
  readonly plan: FleetPlan;
  readonly decision: DecisionOf<typeof fleetDecider>;
}

interface Reported extends Decided {
  /** Targets that were given another collector. */
  readonly moved: number;
  readonly workloadFault: WorkloadFault;
}
