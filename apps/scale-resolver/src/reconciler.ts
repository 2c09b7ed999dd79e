import type { ElastiService } from "@evenkeel/api";
import {
  keepFinalizer,
  keyOf,
  nameKey,
  nameOfKey,
  type ObjectName,
  PAUSED,
  type ReconcileContext,
  type Resource,
  type Result,
  type Service,
} from "@evenkeel/kube";
import type { MetricRegistry, Metrics } from "@evenkeel/metrics";
import { judgeFailure, type ObjectContext, type Reconciler } from "@evenkeel/operator";
import { type Clock, type DecisionOf, type Decisions, explain } from "@evenkeel/runtime";
import type { Selections } from "./act/children.ts";
import type { Executor, PathWork } from "./act/executor.ts";
import { BadSelector, PortsExhausted } from "./act/path-errors.ts";
import type { PathSlices } from "./act/path-slices.ts";
import { PausedScaledObjects, type Statuses } from "./act/paused-scaled-objects.ts";
import type { PortAllocator } from "./act/port-allocator.ts";
import { ReleaseFormerService } from "./act/release/release-former-service.ts";
import type { ReleaseService } from "./act/release/release-service.ts";
import { formerWorkload } from "./act/release/restore-workload.ts";
import { statusAfter, statusOfIdle } from "./act/status.ts";
import { type Binding, serviceKey } from "./binding.ts";
import type { Pods, ServiceSnapshot } from "./decide/snapshot.ts";
import { type State, STATES } from "./decide/state.ts";
import type { stateDecider } from "./decide/state-decider.ts";
import {
  elastiServices,
  FINALIZER,
  isReleased,
  type PortRecord,
  type StoredElastiService,
} from "./elasti-service-resource.ts";
import type { WakeTimer } from "./gateway/wake-timer.ts";
import type { metrics } from "./metrics.ts";
import { recordedBinding, type Understood } from "./observe/bindings.ts";
import type { ClusterView } from "./observe/cluster-view.ts";
import type { Observer } from "./observe/observer.ts";
import { idleSinceAfter, interruptedAfter, type Memories, replicasAfter, stageAfter } from "./observe/stages.ts";
import { nextProbeAt } from "./observe/probe-rounds.ts";
import type { Targets } from "./observe/targets.ts";
import type { Board } from "./serve/board.ts";
import { unknownWakePorts } from "./wake-ports.ts";

export interface ElastiServiceReconcilerOptions {
  readonly elastiServices: Resource<StoredElastiService>;
  readonly view: Pick<ClusterView, "services" | "bindings" | "pods">;
  readonly observer: Observer;
  readonly targets: Targets;
  readonly memories: Memories;
  readonly ports: PortAllocator;
  readonly path: PathSlices;
  readonly executor: Executor;
  readonly releaseService: ReleaseService;
  readonly selections: Selections;
  /** Why KubeElasti's operator counts as running; undefined if it does not run. */
  readonly original: (signal: AbortSignal) => Promise<string | undefined>;
  readonly statuses: Statuses;
  readonly decisions: Pick<Decisions<typeof stateDecider>, "decide" | "forget">;
  readonly board: Board;
  readonly wakeTimer: Pick<WakeTimer, "lastMilliseconds">;
  readonly metrics: Metrics<typeof metrics>;
  readonly registry: Pick<MetricRegistry, "forget">;
  readonly clock: Clock;
  /** `--dry-run`: Services, workloads and routes are not changed. */
  readonly dryRun: boolean;
  /** Milliseconds between two reconciles of a service without changes. */
  readonly interval: number;
}

type StateDecision = DecisionOf<typeof stateDecider>;

/** Maximum number of Services in a status message that a selector does not select. */
const SHOWN_OUT = 10;

/** Reconciles one ElastiService: observe, decide, act, write the status. */
export class ElastiServiceReconciler implements Reconciler<StoredElastiService> {
  readonly #options: ElastiServiceReconcilerOptions;
  /** The binding with which each Service was last managed, by the object's key. */
  readonly #served = new Map<string, Binding>();
  /** Errors of the last reconciles that the status does not report yet. */
  readonly #failures = new WeakMap<StoredElastiService, unknown>();
  readonly #pauses: PausedScaledObjects;
  readonly #releaseFormerService: ReleaseFormerService;

  constructor(options: ElastiServiceReconcilerOptions) {
    this.#options = options;
    const { view, releaseService, path, statuses } = options;
    this.#pauses = new PausedScaledObjects(statuses);
    this.#releaseFormerService = new ReleaseFormerService({
      ...{ bindings: view.bindings, releaseService, path, statuses },
      served: (key) => this.#served.get(key),
      forget: (key) => this.#forget(key),
    });
  }

  async reconcile(object: StoredElastiService, context: ObjectContext): Promise<Result | undefined> {
    this.#failures.delete(object);
    const result = await this.#reconcile(object, context).catch((error: unknown) => {
      this.#failures.set(object, error);
      throw error;
    });
    if (result instanceof Error) throw result;
    return result;
  }

  /** At the deadline, the status names the call that did not return. */
  async failed(object: StoredElastiService, _error: unknown, context: ReconcileContext): Promise<void> {
    if (!this.#failures.has(object)) return;
    const failure = judgeFailure(this.#failures.get(object), object.metadata.generation ?? 0);
    await this.#idle(object, failure, context);
  }

  /** Resolves with an error if the status reports it. */
  async #reconcile(object: StoredElastiService, context: ObjectContext): Promise<Result | Error | undefined> {
    const { view, releaseService } = this.#options;
    const understood = view.bindings.understand(object);
    if (isReleased(object)) {
      const binding = understood.kind === "service" ? understood.binding : recordedBinding(object);
      return releaseService.finalize(object, binding, context);
    }
    if (understood.kind === "invalid") {
      const message = understood.errors.join("; ");
      context.log.warn({ errors: understood.errors }, "the spec is invalid; nothing is changed");
      await this.#keepPath(object, context);
      return this.#idle(object, { reason: "InvalidSpec", message }, context);
    }
    if (understood.kind === "selection") return this.#select(object, understood.object, context);
    return this.#reconcileService(object, understood, context);
  }

  forget(name: ObjectName): void {
    this.#forget(nameKey(name));
  }

  endTerm(): void {
    this.#served.clear();
    this.#pauses.forgetAll();
    this.#options.memories.clear();
    this.#options.targets.clear();
    this.#options.ports.endTerm();
    this.#options.releaseService.forgetAll();
  }

  async #reconcileService(
    object: StoredElastiService,
    { binding, fault }: Understood & { readonly kind: "service" },
    context: ObjectContext,
  ): Promise<Result | Error | undefined> {
    const { view, observer, targets, memories, decisions, path, executor, clock, interval } = this.#options;
    const { signal } = context;
    const key = keyOf(object);
    const owner = view.bindings.ownerOf(serviceKey(binding.namespace, binding.service));
    if (owner && owner.metadata.uid !== object.metadata.uid) {
      // While KubeElasti's operator runs, nothing is released. The status still names the ElastiService that manages
      // the Service.
      const isAlone = (await this.#options.original(signal)) === undefined;
      if (isAlone && !(await this.#releaseFormerService.own(object, context))) return { requeueAfter: SOON };
      const message = `ElastiService ${owner.metadata.name ?? ""}, which is older, manages Service ${binding.service}: delete one of the two`;
      return this.#idle(object, { reason: "Conflict", message }, context);
    }
    const released = await this.#releaseFormerService.forAnother(object, binding, context);
    if (released === "inProgress") return { requeueAfter: SOON };
    if (released === "paused") {
      const message = `Paused by the annotation ${PAUSED}: Service ${object.status?.service ?? ""} is released after the annotation is removed`;
      return this.#idle(object, { reason: "Paused", message }, context);
    }
    const service = view.services.get(serviceKey(binding.namespace, binding.service));
    if (!service) {
      // A Service created later with the same name is a different one, so observations of this one do not apply to it.
      memories.delete(key);
      const message = `Service ${binding.service} not found in namespace ${binding.namespace}`;
      return this.#idle(object, { reason: "ServiceNotFound", message }, context);
    }
    if (!(await keepFinalizer(this.#options.elastiServices, object, FINALIZER, true, { signal }))) return undefined;
    const ports = await this.#assignPorts(object, service, context);
    if (!ports) return { requeueAfter: interval };

    const state = memories.get(key)?.stage.state;
    const former = formerWorkload(binding, { status: object.status, served: this.#served.get(key), state });
    // The observations are of another workload.
    if (former) memories.delete(key);
    const memory = memories.get(key);
    const joined = path.useOf(binding.namespace, binding.service) === "redirect";
    if (joined) await this.#repoint({ object, service, ports }, context);
    const since = clock.monotonic();
    // Requests may be waiting, or will be refused when the last pod ends, so this does not wait for reads of the
    // workload.
    const isUrgent = joined || isLastLeaving(view.pods(serviceKey(binding.namespace, binding.service)));
    const target = isUrgent ? targets.known(binding) : await targets.read(binding, service, signal);
    const subject = { object, binding, fault, targetFault: target.fault, memory, joined };
    const snapshot = await observer.observe(subject, signal);
    if (!snapshot) return undefined;
    const decision = decisions.decide(snapshot);
    const pauses = this.#pauses;
    const work = { object, service, binding, ports, former, pauses, since, snapshot, decision };
    const outcome = await executor.run(work, context);
    if (outcome.isFormerRestored) this.#served.set(key, binding);
    const now = clock.now();
    const stage = outcome.done ? stageAfter(snapshot, decision) : snapshot.stage;
    const interrupted = outcome.done ? interruptedAfter(snapshot, decision) : (snapshot.interrupted ?? 0);
    const idleSince = idleSinceAfter(snapshot, { stage, interrupted }, now);
    const provenAt = stage.state === "Serve" ? null : snapshot.path.provenAt;
    const { at, replicasSeenAt = null } = snapshot;
    memories.set(key, { stage, provenAt, idleSince, observedAt: Date.parse(at), replicasSeenAt, interrupted });

    this.#measure(binding, snapshot.stage.state, stage.state);
    const lastWakeMs = this.#options.wakeTimer.lastMilliseconds(serviceKey(binding.namespace, binding.service));
    this.#options.board.show(key, { snapshot, decision, stage, lastWakeMs });
    const replicas = outcome.done ? replicasAfter(snapshot, decision.action) : snapshot.replicas;
    // The status names the former workload until it is restored, because it is the only record of it.
    const named = outcome.isFormerRestored ? binding : (former ?? binding);
    const reconciled = {
      snapshot,
      decision,
      stage,
      ports,
      target: named.target,
      stop: target.stop,
      autoscalerFault: target.autoscalerFault,
      isScaledObjectMade: binding.scaledObject !== null,
      replicas: outcome.isFormerRestored ? replicas : null,
      route: outcome.route,
      paused: pauses.of(object),
      scaledObject: pauses.formerlyNamed(object),
      failure: outcome.failure,
      idleSince,
      lastWakeMs,
      refusedProbes: binding.probes.refused.map(explain),
      hasTriggers: binding.triggers.length > 0,
      unknownWakePorts: unknownWakePorts(binding.wakePorts, service),
    };
    await this.#options.statuses.write(object, statusAfter(object.status, reconciled, now), context.term);
    if (outcome.error) return outcome.error;
    const next = untilNextReconcile(stage.state, snapshot, decision, interval);
    // No watch reports when another client restores the route.
    return { requeueAfter: binding.route && stage.state !== "Serve" ? Math.min(next, ROUTE_CHECK) : next };
  }

  /**
   * The path follows the replicas of the resolver before anything is read: requests must not go to a replica that is
   * gone while a metric server is slow. The executor repeats a failed update, and reports it.
   */
  async #repoint(work: PathWork, context: ObjectContext): Promise<void> {
    const { executor, original } = this.#options;
    if ((await original(context.signal)) !== undefined) return;
    try {
      await executor.updatePath(work, context);
    } catch (error) {
      context.term.signal.throwIfAborted();
      context.log.info({ error }, "the path was not updated before the triggers were read; it is updated after");
    }
  }

  /**
   * The spec is invalid and the resolver may still be in the path. Its replicas answer requests with an error, so the
   * path follows them.
   */
  async #keepPath(object: StoredElastiService, context: ObjectContext): Promise<void> {
    const { view, path, executor, original } = this.#options;
    const { service: name = "", ports = [] } = object.status ?? {};
    const { namespace = "" } = object.metadata;
    const service = view.services.get(serviceKey(namespace, name));
    if (!service || path.useOf(namespace, name) !== "redirect" || (await original(context.signal)) !== undefined)
      return;
    await executor.updatePath({ object, service, ports }, context);
  }

  /** Undefined if no port is free, which the status reports. The path keeps the ports that it has. */
  async #assignPorts(
    object: StoredElastiService,
    service: Service,
    context: ObjectContext,
  ): Promise<readonly PortRecord[] | undefined> {
    const { ports, statuses, clock } = this.#options;
    let assigned: readonly PortRecord[];
    try {
      assigned = ports.allocate(object, service);
    } catch (error) {
      if (!(error instanceof PortsExhausted)) throw error;
      context.log.warn({ error }, "no port is free for a Service; nothing is changed");
      await this.#keepPath(object, context);
      const message = `Nothing is changed: ${explain(error)}. ${PortsExhausted.entry.remedy}`;
      await this.#idle(object, { reason: "PortsExhausted", message }, context);
      return undefined;
    }
    const recorded = object.status?.ports ?? [];
    const isKnown = assigned.every(({ name, port }) => recorded.some((one) => one.name === name && one.port === port));
    // Replicas listen on the recorded ports, so the record is written before the path uses them.
    if (!isKnown) {
      const lastReconciledTime = new Date(clock.now()).toISOString();
      const { name } = service.metadata;
      await statuses.write(
        object,
        { ...object.status, service: name ?? "", ports: assigned, lastReconciledTime },
        context.term,
      );
    }
    return assigned;
  }

  async #select(object: StoredElastiService, elastiService: ElastiService, context: ObjectContext): Promise<Result> {
    const { selections, original, dryRun } = this.#options;
    const running = await original(context.signal);
    if (running !== undefined) {
      return this.#idle(object, { reason: "OriginalRuns", message: `Nothing is changed: ${running}` }, context);
    }
    if (dryRun) {
      if (!(await this.#releaseFormerService.own(object, context))) return { requeueAfter: SOON };
      return this.#idle(object, { reason: "DryRun", message: "In a dry run no Services are selected" }, context);
    }
    try {
      const { selected, left } = await selections.sync(elastiService, context);
      if (!(await this.#releaseFormerService.own(object, context))) return { requeueAfter: SOON };
      const others = left.slice(0, SHOWN_OUT).map(({ service, why }) => `${service} is not selected: ${why}`);
      const message = [`${selected} Services are selected, ${left.length} are not`, ...others].join("; ");
      return await this.#idle(object, { reason: "Selected", message, selected }, context);
    } catch (error) {
      if (!(error instanceof BadSelector)) throw error;
      const message = `The Services selected before stay selected: ${explain(error)}`;
      return this.#idle(object, { reason: "InvalidSpec", message }, context);
    }
  }

  async #idle(
    object: StoredElastiService,
    about: { readonly reason: string; readonly message: string; readonly selected?: number },
    { term }: ReconcileContext,
  ): Promise<Result> {
    const { statuses, clock, interval } = this.#options;
    const { generation = 0 } = object.metadata;
    await statuses.write(object, (status) => statusOfIdle(status, { ...about, generation }, clock.now()), term);
    return { requeueAfter: interval };
  }

  #measure({ namespace, name, service }: Binding, before: State, after: State): void {
    const { metrics } = this.#options;
    for (const state of STATES) metrics.state.set({ namespace, service, state }, state === after ? 1 : 0);
    metrics.mode.set({ namespace, crd_name: name }, after === "Serve" ? 0 : 1);
    if ((before === "Serve") !== (after === "Serve")) {
      metrics.trafficSwitches.inc({ namespace, source: service, enabled: after === "Serve" ? "false" : "true" });
    }
  }

  /** Forgets an object that was deleted, or the Service that it managed. */
  #forget(key: string): void {
    const { memories, targets, ports, board, registry, decisions } = this.#options;
    const served = this.#served.get(key);
    this.#served.delete(key);
    this.#pauses.forget(key);
    memories.delete(key);
    ports.forget(key);
    board.remove(key);
    const { namespace: of = "", name: object } = nameOfKey(key);
    decisions.forget({ kind: elastiServices.kind, namespace: of, name: object });
    if (!served) return;
    const { namespace, name, service, uid } = served;
    targets.forget(uid);
    registry.forget({ namespace, service });
    registry.forget({ namespace, source: service });
    registry.forget({ namespace, crd_name: name });
  }
}

function isLastLeaving(pods: Pods | null): boolean {
  return pods !== null && pods.ready === 0 && pods.leaving > 0;
}

/** Milliseconds until the next reconcile, for changes that no watch reports. */
const SOON = 250;
const ASLEEP = 60_000;
const WAKING = 5_000;
const TERMINATING = 1_000;
const ROUTE_CHECK = 2_000;

function untilNextReconcile(
  state: State,
  { stage, policy, path, pods, at }: ServiceSnapshot,
  { reason }: Pick<StateDecision, "reason">,
  interval: number,
): number {
  const now = Date.parse(at);
  // At zero replicas, these pods are terminating, or the pods were read just before a wake.
  if (state === "Zero") return pods && pods.ready + pods.leaving > 0 ? TERMINATING : ASLEEP;
  if (state === "Wake") return WAKING;
  if (state !== "Guard") return interval;
  if (reason === "Quieting" && path.provenAt !== null) {
    return Math.max(SOON, Math.min(interval, Math.max(path.provenAt, stage.since) + policy.quiet - now));
  }
  if (reason === "Settling") return Math.max(SOON, stage.since + policy.settle - now);
  // A service that was redirected by this reconcile is in Guard from now on.
  const joined = stage.state === "Guard" ? stage.since : now;
  if (reason === "PathUnproven" || joined === now) return Math.max(SOON, nextProbeAt(joined, policy.settle, now) - now);
  return Math.min(interval, 1000);
}
