import type { ReconcileContext, Service } from "@evenkeel/kube";
import { type DecisionOf, explain, toError } from "@evenkeel/runtime";
import { type Binding, serviceKey } from "../binding.ts";
import type { Activity, ServiceSnapshot } from "../decide/snapshot.ts";
import type { stateDecider } from "../decide/state-decider.ts";
import type { PortRecord, StoredElastiService } from "../elasti-service-resource.ts";
import type { ResolverEndpoint } from "../observe/resolver-endpoints.ts";
import type { Autoscalers } from "./autoscalers.ts";
import type { Leftovers } from "./leftovers.ts";
import type { PathSlices } from "./path-slices.ts";
import type { Scales } from "./scales.ts";

export interface CarryOutOptions {
  readonly path: PathSlices;
  readonly scales: Scales;
  readonly autoscalers: Autoscalers;
  readonly leftovers: Leftovers;
  readonly resolvers: () => readonly ResolverEndpoint[];
  readonly activity: (key: string) => Promise<Activity | null>;
}

export interface Work {
  readonly object: StoredElastiService;
  readonly service: Service;
  readonly binding: Binding;
  readonly ports: readonly PortRecord[];
  readonly snapshot: ServiceSnapshot;
  readonly decision: DecisionOf<typeof stateDecider>;
}

export interface Outcome {
  /** Whether the service is now in the state that was decided. */
  readonly done: boolean;
  /** What went wrong, for a person; the work is taken up again after a while. */
  readonly failure?: string;
  readonly error?: Error;
}

/** Does what was decided. Everything here may be done twice. */
export class CarryOut {
  readonly #options: CarryOutOptions;

  constructor(options: CarryOutOptions) {
    this.#options = options;
  }

  async run(work: Work, context: ReconcileContext): Promise<Outcome> {
    const { decision, snapshot } = work;
    if (decision.dryRun || snapshot.blocked) return { done: false };
    try {
      const done = await this.#act(work, context);
      await this.#keepPath(work, done ? decision.after : decision.before, context);
      return { done };
    } catch (error) {
      context.signal.throwIfAborted();
      return { done: false, failure: explain(error), error: toError(error) };
    }
  }

  async #act(work: Work, context: ReconcileContext): Promise<boolean> {
    const { binding, decision } = work;
    switch (decision.action) {
      case "leave":
        await this.#options.path.leave(binding.namespace, binding.service, { signal: context.signal });
        return true;
      case "sleep":
        return this.#sleep(work, context);
      case "wake":
        await this.#options.scales.wake(binding.namespace, binding.target, binding.minReplicas, context);
        await this.#resume(binding, context);
        return true;
      case "move":
        // Whoever woke it, its autoscaler has work again.
        if (decision.before === "Zero") await this.#resume(binding, context);
        return true;
      default:
        return true;
    }
  }

  /** The last look at the requests is right before the call: what comes after it finds the resolver in the path. */
  async #sleep({ binding, snapshot }: Work, context: ReconcileContext): Promise<boolean> {
    const { scales, activity, autoscalers } = this.#options;
    const { namespace, service, target, autoscaler } = binding;
    const { replicas, stage } = snapshot;
    if (replicas === null || replicas === 0 || !context.term.held()) return false;
    if (autoscaler) await autoscalers.pause(namespace, autoscaler, context);
    const now = await activity(serviceKey(namespace, service));
    const isQuiet = now?.requests === stage.requests && now.pending + now.inFlight === 0;
    const slept = isQuiet && (await scales.sleep(namespace, target, replicas, context)) === "slept";
    if (!slept) await this.#resume(binding, context);
    return slept;
  }

  async #resume({ namespace, autoscaler }: Binding, { signal }: ReconcileContext): Promise<void> {
    if (autoscaler) await this.#options.autoscalers.resume(namespace, autoscaler, { signal });
  }

  /** While the resolver is in the path, its EndpointSlices follow its replicas and the Service's ports. */
  async #keepPath(
    { object, service, binding, ports, snapshot }: Work,
    state: ServiceSnapshot["stage"]["state"],
    { signal, log }: ReconcileContext,
  ): Promise<void> {
    const { path, leftovers, resolvers } = this.#options;
    const inPath = state !== "Serve";
    const known = resolvers();
    if (inPath && known.length > 0) await path.join({ object, service, ports, resolvers: known }, { signal });
    // What the original left behind leads nowhere; it goes as soon as there is another way.
    const hasWay = path.isJoined(binding.namespace, binding.service) || (snapshot.pods?.ready ?? 0) > 0;
    if (!hasWay) return;
    for (const line of await leftovers.clean(binding.namespace, binding.service, signal)) log.info(line);
  }
}
