import { kubeErrors, type Service } from "@evenkeel/kube";
import type { ObjectContext } from "@evenkeel/operator";
import { type DecisionOf, explain, toError } from "@evenkeel/runtime";
import { type Binding, type RouteRef, serviceKey, type TargetRef } from "../binding.ts";
import type { Activity, ServiceSnapshot } from "../decide/snapshot.ts";
import type { State } from "../decide/state.ts";
import type { stateDecider } from "../decide/state-decider.ts";
import type { PortRecord, StoredElastiService } from "../elasti-service-resource.ts";
import type { ResolverEndpoint } from "../observe/resolver-endpoints.ts";
import type { Autoscalers } from "./autoscalers.ts";
import type { FormerWorkload, RestoreWorkload } from "./release/restore-workload.ts";
import type { OriginalLeftovers } from "./release/original-leftovers.ts";
import { type PausedScaledObjects, type Paused, pauseIn, scaledObjectOf } from "./paused-scaled-objects.ts";
import type { PathSlices } from "./path-slices.ts";
import type { RouteSwitch } from "./routes/route-switch.ts";
import type { ScaledObjects } from "./scaled-objects.ts";
import type { Scales } from "./scales.ts";
import { wakeWorkload } from "./wake-workload.ts";

export interface ExecutorOptions {
  readonly path: PathSlices;
  readonly routes: RouteSwitch;
  readonly scales: Scales;
  readonly autoscalers: Autoscalers;
  readonly leftovers: OriginalLeftovers;
  readonly restoreWorkload: RestoreWorkload;
  readonly scaledObjects: ScaledObjects;
  readonly resolvers: () => readonly ResolverEndpoint[];
  /** Whether the resolver may be an endpoint of Services with ready pods. */
  readonly mayStandBy: (signal: AbortSignal) => Promise<boolean>;
  /** Addresses of replicas that are terminating and still serve. */
  readonly terminatingResolvers: () => ReadonlySet<string>;
  readonly activity: (key: string) => Promise<Activity | null>;
  /** Whether the gateway has scaled the workload up since that time of the monotonic clock, or is doing so. */
  readonly hasWoken: (namespace: string, target: TargetRef, since: number) => Promise<boolean>;
  /** Called with the key of a Service when its workload was scaled up for requests. */
  readonly woken: (key: string) => void;
}

export interface Work {
  readonly object: StoredElastiService;
  readonly service: Service;
  readonly binding: Binding;
  readonly ports: readonly PortRecord[];
  /** The workload that the spec named before, which is not restored yet. */
  readonly former: FormerWorkload | undefined;
  /** The paused ScaledObjects of all ElastiServices. */
  readonly pauses: PausedScaledObjects;
  /** When the observation began, by the monotonic clock. */
  readonly since: number;
  readonly snapshot: ServiceSnapshot;
  readonly decision: DecisionOf<typeof stateDecider>;
}

/** Input for the path to the resolver. */
export type PathWork = Pick<Work, "object" | "service" | "ports">;

export interface Outcome {
  /** Whether the service is in the decided state. */
  readonly done: boolean;
  /** Whether no former workload has to be restored. */
  readonly isFormerRestored: boolean;
  /**
   * The route that is redirected to the resolver, if known. A former route is named until it is restored, because this
   * is its only record.
   */
  readonly route: RouteRef | null;
  /** What failed, for a person. The object is reconciled again later. */
  readonly failure?: string;
  readonly error?: Error;
}

/** Carries out decisions. Every act can be repeated. */
export class Executor {
  readonly #options: ExecutorOptions;

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  async run(work: Work, context: ObjectContext): Promise<Outcome> {
    const { decision, snapshot, binding, former, object } = work;
    if (decision.dryRun || snapshot.blocked) return this.#maintain(work, context);
    const acted = await this.#attempt(context, () => this.#act(work, context));
    if (acted.error instanceof kubeErrors.ActOvertaken) {
      return { done: false, isFormerRestored: !former, route: object.status?.route ?? null, error: acted.error };
    }
    const done = acted.value ?? false;
    // The path follows the resolver's replicas even if another act fails: a refused wake must not keep requests on a
    // terminating replica.
    const kept = await this.#attempt(context, () => this.#keep(work, done ? decision.after : decision.before, context));
    const { restoreWorkload } = this.#options;
    const restored = await this.#attempt(context, async () => former && restoreWorkload.run(former, context));
    // A wake that failed may still have scaled the workload up.
    const state = acted.error ? "Wake" : done ? decision.after : decision.before;
    const settled = await this.#attempt(context, () => this.#settle(work, state, context));
    const error = acted.error ?? kept.error ?? restored.error ?? settled.error;
    const isFormerRestored = restored.error === undefined;
    const route = (error && object.status?.route) ?? binding.route;
    return { done, isFormerRestored, route, ...failureOf(error) };
  }

  /**
   * For a dry run, or while changes are blocked. An existing path is kept up to date, or sleeping services would become
   * unreachable when replicas change. While the original's operator runs, the path is not touched: an administrator who
   * returns to the original deletes these slices, and they must not be created again.
   */
  async #maintain(work: Work, context: ObjectContext): Promise<Outcome> {
    const { object, snapshot, former } = work;
    const route = object.status?.route ?? null;
    const kept = await this.#attempt(context, async () => {
      if (snapshot.blocked?.reason === "OriginalRuns") return;
      if (snapshot.stage.state !== "Serve") await this.#updatePathAndRoute(work, route, context);
      else await this.#standBy(work, context);
    });
    return { done: false, isFormerRestored: !former, route, ...failureOf(kept.error) };
  }

  /**
   * Only the end of the term aborts the work. A failure at the deadline is an outcome, so that the status reports it.
   */
  async #attempt<T>(
    { term }: ObjectContext,
    task: () => Promise<T>,
  ): Promise<{ readonly value?: T; readonly error?: Error }> {
    try {
      return { value: await task() };
    } catch (error) {
      term.signal.throwIfAborted();
      return { error: toError(error) };
    }
  }

  async #act(work: Work, context: ObjectContext): Promise<boolean> {
    const { decision } = work;
    switch (decision.action) {
      case "join":
        await this.updatePath(work, context);
        return true;
      case "leave":
        await this.#leave(work, context);
        return true;
      case "sleep":
        return this.#sleep(work, context);
      case "wake":
        await this.#wake(work, context);
        return true;
      case "move":
        // The workload is awake, so its autoscaler resumes.
        if (decision.before === "Zero") await this.#resume(work, context);
        return true;
      default:
        return true;
    }
  }

  /**
   * Activity is read just before the call. Requests that arrive later go to the resolver, because it is in the path.
   */
  async #sleep(work: Work, context: ObjectContext): Promise<boolean> {
    const { binding, snapshot } = work;
    const { scales, activity } = this.#options;
    const { namespace, service, target, autoscaler } = binding;
    const { replicas, stage } = snapshot;
    if (replicas === null || replicas === 0 || !context.term.held()) return false;
    await this.#joinRoute(binding, binding.route, context);
    let slept = false;
    try {
      await this.#pause(work, scaledObjectOf(autoscaler), context);
      const now = await activity(serviceKey(namespace, service));
      const isQuiet = now?.requests === stage.requests && now.pending + now.inFlight === 0;
      slept = isQuiet && (await scales.sleep(namespace, target, replicas, context)) === "slept";
    } finally {
      // If it stays paused, KEDA scales to zero by itself, so an edit must not stop this.
      if (!slept) await this.#resume(work, { ...unchecked(context), active: false });
    }
    return slept;
  }

  /** The route is restored first. Until then it sends requests to the resolver, which forwards them to the pods. */
  async #leave(work: Work, context: ObjectContext): Promise<void> {
    const { binding, object, snapshot } = work;
    const { routes, autoscalers } = this.#options;
    const { namespace, service, autoscaler } = binding;
    // First, because no later reconcile does it: pods are ready, and KEDA's own cooldown starts now.
    if (autoscaler && snapshot.stage.purpose === "safety") await autoscalers.allowZero(namespace, autoscaler, context);
    await routes.leave(namespace, service, [object.status?.route, binding.route], context);
    await this.#standBy(work, context);
  }

  /**
   * In Serve, the resolver is the endpoint that nodes use while no pod is ready, so that no request is refused before
   * the service is redirected. It is not, if the workload must not or cannot be woken, or if the Service cannot be
   * redirected.
   */
  async #standBy({ object, service, binding, ports, snapshot, decision }: Work, context: ObjectContext): Promise<void> {
    const { path, mayStandBy } = this.#options;
    const { namespace } = binding;
    const resolvers = this.#options.resolvers();
    const input = { object, service, ports, resolvers };
    const { targetFault, blocked, localOnly } = snapshot;
    const isAble = resolvers.length > 0 && targetFault === undefined && localOnly === undefined;
    const isAllowed = blocked === null && !decision.dryRun && !snapshot.dryRun;
    const isWanted = isAble && isAllowed && (await mayStandBy(context.signal));
    const isServing = snapshot.stage.state === "Serve";
    if (isWanted) await (isServing ? path.standBy(input, context) : path.withdraw(input, context));
    else if (!isServing || path.useOf(namespace, binding.service)) {
      await path.leave(namespace, binding.service, context);
    }
  }

  /** The replica that holds requests also wakes the workload. If it is this replica, its call is enough. */
  async #wake(work: Work, context: ObjectContext): Promise<void> {
    const { binding, since, decision } = work;
    const { hasWoken, woken } = this.#options;
    const { namespace, service, target } = binding;
    if (await hasWoken(namespace, target, since)) return this.#resume(work, context);
    const onScaled = (outcome: string) => {
      if (outcome === "woken" && decision.reason === "RequestHeld") woken(serviceKey(namespace, service));
    };
    await wakeWorkload(this.#options, binding, { ...context, onScaled });
    await this.#resumed(work, context);
  }

  /** Resumes the autoscaler of the spec even if no pause is recorded: the original may have paused it. */
  async #resume(work: Work, context: ObjectContext & { readonly active?: boolean }): Promise<void> {
    const { namespace, autoscaler } = work.binding;
    if (autoscaler) await this.#options.autoscalers.resume(namespace, autoscaler, { active: true, ...context });
    await this.#resumed(work, context);
  }

  /** The autoscaler of the spec was resumed. Another one that is recorded as paused is resumed too. */
  async #resumed(work: Work, context: ObjectContext): Promise<void> {
    const { object, binding, pauses } = work;
    if (pauses.of(object) === scaledObjectOf(binding.autoscaler)) pauses.recordResumed(object);
    else await this.#pause(work, null, context);
  }

  /** Pauses only this ScaledObject, or none if it is null or empty. */
  async #pause({ object, binding, pauses }: Work, scaledObject: Paused, context: ObjectContext): Promise<void> {
    const { autoscalers, restoreWorkload } = this.#options;
    const { namespace } = binding;
    const before = pauses.of(object);
    if (before && before !== scaledObject) await restoreWorkload.resume(namespace, before, context);
    if (scaledObject === null) {
      pauses.recordResumed(object);
      return;
    }
    await pauses.recordPaused(object, scaledObject, context.term);
    if (scaledObject === "") return;
    const paused = await autoscalers.pause(namespace, { type: "keda", name: scaledObject }, context);
    if (paused === "paused") pauses.confirm(object);
  }

  /**
   * The spec may name another autoscaler than the paused one, a missing one may exist by now, and a process may have
   * stopped before it finished.
   */
  async #settle(work: Work, state: State, context: ObjectContext): Promise<void> {
    const { object, binding, pauses, snapshot } = work;
    const paused = pauses.of(object);
    if (snapshot.specFault === undefined) await this.#releaseFormer(work, context);
    // An invalid spec does not resume a paused ScaledObject.
    const named = snapshot.specFault === undefined ? scaledObjectOf(binding.autoscaler) : (paused ?? "");
    const wanted = pauseIn(state, paused, named);
    if (wanted === paused && (state !== "Zero" || pauses.isCertain(object))) return;
    await this.#pause(work, wanted, context);
  }

  /** A ScaledObject that the spec no longer names must not keep the mark of a wake, or KEDA never scales it to zero. */
  async #releaseFormer({ object, binding, pauses }: Work, context: ObjectContext): Promise<void> {
    const named = scaledObjectOf(binding.autoscaler);
    const former = pauses.formerlyNamed(object);
    const isReleased =
      former === "" ||
      former === named ||
      (await this.#options.restoreWorkload.allowZero(binding.namespace, former, context));
    if (isReleased) pauses.recordNamed(object, named);
  }

  /**
   * Redirects the path to the replicas that accept requests now. If there are none, the path stays and the error is
   * reported: clients are refused at once instead of waiting for an address without a server.
   */
  async updatePath({ object, service, ports }: PathWork, context: ObjectContext): Promise<void> {
    const { path, resolvers, terminatingResolvers } = this.#options;
    const known = resolvers();
    if (known.length > 0) await path.join({ object, service, ports, resolvers: known }, context);
    else await path.close(service, terminatingResolvers(), context);
  }

  /** Also redirects a mesh or a gateway, in every reconcile, because another client may restore the route. */
  async #joinRoute({ namespace, service }: Binding, route: RouteRef | null, context: ObjectContext): Promise<void> {
    if (route) await this.#options.routes.join(namespace, service, route, context);
  }

  async #updatePathAndRoute(work: Work, route: RouteRef | null, context: ObjectContext): Promise<void> {
    await this.updatePath(work, context);
    await this.#joinRoute(work.binding, route, context);
  }

  /** While the resolver is in the path, the path follows the resolver's replicas, the Service's ports and the spec. */
  async #keep(work: Work, state: State, context: ObjectContext): Promise<void> {
    const { path, routes, leftovers, scaledObjects } = this.#options;
    const { object, binding, snapshot, decision } = work;
    const { namespace, service, route } = binding;
    if (state !== "Serve") await this.#updatePathAndRoute(work, route, context);
    await scaledObjects.keep(object, binding, context);
    await routes.leave(namespace, service, [object.status?.route], { ...context, kept: route });
    // Slices of the original point at no server. They are deleted once requests have a working destination.
    const isReachable = path.useOf(namespace, service) === "redirect" || (snapshot.pods?.ready ?? 0) > 0;
    const cleaned = isReachable ? await leftovers.clean(namespace, service, context) : [];
    for (const line of cleaned) context.log.info(line);
    // Last, because the service works without it. After a leave, the resolver stands by already. A join that failed may
    // have redirected a part, which stays.
    if (state === "Serve" && decision.action === "stay") await this.#standBy(work, context);
  }
}

/** A conflict with a newer edit is not a failure: the object is reconciled again at once. */
function failureOf(error: Error | undefined): Pick<Outcome, "failure" | "error"> {
  if (error instanceof kubeErrors.ActOvertaken) return { error };
  return error ? { failure: explain(error), error } : {};
}

/** For writes that undo a change of this reconcile. They are also made after its deadline. */
function unchecked(context: ObjectContext): ObjectContext {
  return { ...context, signal: context.term.signal, checked: (resource) => resource };
}
