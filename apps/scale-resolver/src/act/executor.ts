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
  /** Addresses of those that are about to go, and still serve. */
  readonly leavingResolvers: () => ReadonlySet<string>;
  readonly activity: (key: string) => Promise<Activity | null>;
  /** Whether the path of requests has scaled a workload up since that time of the monotonic clock, or is doing so. */
  readonly hasWoken: (namespace: string, target: TargetRef, since: number) => Promise<boolean>;
  /** Hears of each workload that was scaled up for requests here, by its Service's key. */
  readonly woken: (key: string) => void;
}

export interface Work {
  readonly object: StoredElastiService;
  readonly service: Service;
  readonly binding: Binding;
  readonly ports: readonly PortRecord[];
  /** The workload before this one, which is still to be handed back. */
  readonly former: FormerWorkload | undefined;
  /** What is paused, for this ElastiService and others. */
  readonly pauses: PausedScaledObjects;
  /** When the look began that the decision comes from, by the monotonic clock. */
  readonly since: number;
  readonly snapshot: ServiceSnapshot;
  readonly decision: DecisionOf<typeof stateDecider>;
}

/** What the path to the resolver is made of. */
export type Standing = Pick<Work, "object" | "service" | "ports">;

export interface Outcome {
  /** Whether the service is now in the state that was decided. */
  readonly done: boolean;
  /** Whether there is no workload left to be handed back. */
  readonly handedOver: boolean;
  /** The route that leads to the resolver while it is in the path, as far as that is known. A former one is named until it is put back: nobody else knows of it. */
  readonly route: RouteRef | null;
  /** What went wrong, for a person; the work is taken up again after a while. */
  readonly failure?: string;
  readonly error?: Error;
}

/** Does what was decided. Everything here may be done twice. */
export class Executor {
  readonly #options: ExecutorOptions;

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  async run(work: Work, context: ObjectContext): Promise<Outcome> {
    const { decision, snapshot, binding, former, object } = work;
    if (decision.dryRun || snapshot.blocked) return this.#rest(work, context);
    const acted = await this.#attempt(context, () => this.#act(work, context));
    if (acted.error instanceof kubeErrors.ActOvertaken) {
      return { done: false, handedOver: !former, route: object.status?.route ?? null, error: acted.error };
    }
    const done = acted.value ?? false;
    // The path follows the resolver's replicas whatever else fails: a wake that is refused must not keep requests on one that leaves.
    const kept = await this.#attempt(context, () => this.#keep(work, done ? decision.after : decision.before, context));
    const { restoreWorkload } = this.#options;
    const given = await this.#attempt(context, async () => former && restoreWorkload.run(former, context));
    // Who failed to wake a workload may have scaled it up all the same.
    const state = acted.error ? "Wake" : done ? decision.after : decision.before;
    const settled = await this.#attempt(context, () => this.#settle(work, state, context));
    const error = acted.error ?? kept.error ?? given.error ?? settled.error;
    const handedOver = given.error === undefined;
    const route = (error && object.status?.route) ?? binding.route;
    return { done, handedOver, route, ...failureOf(error) };
  }

  /**
   * Nothing changes. A path that is laid already is no change, and is kept alive: who sleeps behind it would be lost with the first replica that goes. Beside the original's
   * operator not even that: whoever goes back to it takes these slices away, and must not find them made anew.
   */
  async #rest(work: Work, context: ObjectContext): Promise<Outcome> {
    const { object, snapshot, former } = work;
    const route = object.status?.route ?? null;
    const isInPath = snapshot.stage.state !== "Serve" && snapshot.blocked?.reason !== "OriginalRuns";
    const kept = isInPath ? await this.#attempt(context, () => this.#standAll(work, route, context)) : {};
    return { done: false, handedOver: !former, route, ...failureOf(kept.error) };
  }

  /** Only the end of the term ends the work: what failed at the deadline is an outcome, so that the status tells of it. */
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
        await this.stand(work, context);
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
        // Whoever woke it, its autoscaler has work again.
        if (decision.before === "Zero") await this.#resume(work, context);
        return true;
      default:
        return true;
    }
  }

  /** The last look at the requests is right before the call: what comes after it finds the resolver in the path. */
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
      // A pause that is left on would have KEDA scale to zero by itself, so that no edit may stop this.
      if (!slept) await this.#resume(work, { ...unchecked(context), active: false });
    }
    return slept;
  }

  /** The route goes first: while it leads to the resolver, the resolver leads to the pods. */
  async #leave({ binding, object, snapshot }: Work, context: ObjectContext): Promise<void> {
    const { path, routes, autoscalers } = this.#options;
    const { namespace, service, autoscaler } = binding;
    // First, since nobody would come back to it: pods are ready, and its own cooldown counts from now on.
    if (autoscaler && snapshot.stage.purpose === "safety") await autoscalers.calm(namespace, autoscaler, context);
    await routes.leave(namespace, service, [object.status?.route, binding.route], context);
    await path.leave(namespace, service, context);
  }

  /** The replica that holds requests wakes the workload as well. If that is this one, its call is enough. */
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

  /** What is named now is resumed even if nothing is on record: the original may have paused it. */
  async #resume(work: Work, context: ObjectContext & { readonly active?: boolean }): Promise<void> {
    const { namespace, autoscaler } = work.binding;
    if (autoscaler) await this.#options.autoscalers.resume(namespace, autoscaler, { active: true, ...context });
    await this.#resumed(work, context);
  }

  /** The autoscaler that is named now is not paused; neither may be the one on record, if that is another. */
  async #resumed(work: Work, context: ObjectContext): Promise<void> {
    const { object, binding, pauses } = work;
    if (pauses.of(object) === scaledObjectOf(binding.autoscaler)) pauses.strike(object);
    else await this.#pause(work, null, context);
  }

  /** Pauses that ScaledObject and none besides, or none at all. */
  async #pause({ object, binding, pauses }: Work, scaledObject: Paused, context: ObjectContext): Promise<void> {
    const { autoscalers, restoreWorkload } = this.#options;
    const { namespace } = binding;
    const before = pauses.of(object);
    if (before && before !== scaledObject) await restoreWorkload.resume(namespace, before, context);
    if (scaledObject === null) {
      pauses.strike(object);
      return;
    }
    await pauses.enter(object, scaledObject, context.term);
    if (scaledObject === "") return;
    const paused = await autoscalers.pause(namespace, { type: "keda", name: scaledObject }, context);
    if (paused === "paused") pauses.confirm(object);
  }

  /** The spec may name another autoscaler than the one that was paused, one that was not there may have come, and a process may have ended half way. */
  async #settle(work: Work, state: State, context: ObjectContext): Promise<void> {
    const { object, binding, pauses, snapshot } = work;
    const paused = pauses.of(object);
    // A spec that cannot be understood takes nothing back.
    const named = snapshot.specFault === undefined ? scaledObjectOf(binding.autoscaler) : (paused ?? "");
    const wanted = pauseIn(state, paused, named);
    if (wanted === paused && (state !== "Zero" || pauses.isCertain(object))) return;
    await this.#pause(work, wanted, context);
  }

  /** Leads the path to the replicas that take requests now. Where none does, it stays, and says so: clients are refused at once, in place of waiting for who is not there. */
  async stand({ object, service, ports }: Standing, context: ObjectContext): Promise<void> {
    const { path, resolvers, leavingResolvers } = this.#options;
    const known = resolvers();
    if (known.length > 0) await path.join({ object, service, ports, resolvers: known }, context);
    else await path.close(service, leavingResolvers(), context);
  }

  /** A mesh or a gateway is led to the resolver as well, again and again: somebody may put back what he takes for his. */
  async #joinRoute({ namespace, service }: Binding, route: RouteRef | null, context: ObjectContext): Promise<void> {
    if (route) await this.#options.routes.join(namespace, service, route, context);
  }

  async #standAll(work: Work, route: RouteRef | null, context: ObjectContext): Promise<void> {
    await this.stand(work, context);
    await this.#joinRoute(work.binding, route, context);
  }

  /** While the resolver is in the path, it follows its own replicas, the Service's ports and what the object asks for. */
  async #keep(work: Work, state: State, context: ObjectContext): Promise<void> {
    const { path, routes, leftovers, scaledObjects } = this.#options;
    const { object, binding, snapshot } = work;
    const { namespace, service, route } = binding;
    if (state !== "Serve") await this.#standAll(work, route, context);
    await scaledObjects.keep(object, binding, context);
    await routes.leave(namespace, service, [object.status?.route], { ...context, kept: route });
    // What the original left behind leads nowhere; it goes as soon as there is another way.
    const hasWay = path.isJoined(namespace, service) || (snapshot.pods?.ready ?? 0) > 0;
    if (!hasWay) return;
    for (const line of await leftovers.clean(namespace, service, context)) context.log.info(line);
  }
}

/** An act that was overtaken has not failed: the object is reconciled again at once. */
function failureOf(error: Error | undefined): Pick<Outcome, "failure" | "error"> {
  if (error instanceof kubeErrors.ActOvertaken) return { error };
  return error ? { failure: explain(error), error } : {};
}

/** For writes that undo what this reconcile began: they are made after its deadline as well. */
function unchecked(context: ObjectContext): ObjectContext {
  return { ...context, signal: context.term.signal, checked: (resource) => resource };
}
