import { hasFinalizer, removeFinalizer, type Resource, type Result } from "@evenkeel/kube";
import type { ObjectContext } from "@evenkeel/operator";
import type { Clock } from "@evenkeel/runtime";
import { type Binding, serviceKey } from "../../binding.ts";
import { FINALIZER, type StoredElastiService } from "../../elasti-service-resource.ts";
import type { Pods } from "../../decide/snapshot.ts";
import type { Bindings } from "../../observe/bindings.ts";
import { formerWorkload, type RestoreWorkload, isSameTarget } from "./restore-workload.ts";
import type { OriginalLeftovers } from "./original-leftovers.ts";
import type { PathSlices } from "../path-slices.ts";
import { scaledObjectOf, type Statuses } from "../paused-scaled-objects.ts";
import type { RouteSwitch } from "../routes/route-switch.ts";
import { statusOfReleased } from "../status.ts";

export interface ReleaseServiceOptions {
  readonly elastiServices: Resource<StoredElastiService>;
  readonly bindings: Pick<Bindings, "ownerOf" | "understand">;
  readonly path: PathSlices;
  readonly routes: RouteSwitch;
  readonly leftovers: OriginalLeftovers;
  readonly restoreWorkload: RestoreWorkload;
  /** The pods behind a Service, by its key; null while they are unknown. */
  readonly pods: (key: string) => Pods | null;
  /** Why the original must be taken for running; undefined if it does not run. */
  readonly original: (signal: AbortSignal) => Promise<string | undefined>;
  readonly clock: Clock;
  readonly statuses: Statuses;
  /** `--dry-run`: only what was put to sleep here, or has the resolver in its path, is given back, since nobody would remember it. */
  readonly dryRun: boolean;
}

/** How long an object that goes is kept for a pod that does not get ready, in milliseconds. */
const PATIENCE = 120_000;
const SOON = 500;

/**
 * Gives a Service back to its pods when its ElastiService goes: a workload that sleeps is woken first, and requests are held until a pod
 * is ready. Only then does the resolver leave the path and the object go.
 */
export class ReleaseService {
  readonly #options: ReleaseServiceOptions;
  /** Since when an object is being let go. */
  readonly #since = new Map<string, number>();

  constructor(options: ReleaseServiceOptions) {
    this.#options = options;
  }

  /** Another process leads now. */
  forgetAll(): void {
    this.#since.clear();
  }

  async finalize(
    object: StoredElastiService,
    binding: Binding | undefined,
    context: ObjectContext,
  ): Promise<Result | undefined> {
    const { elastiServices, original, statuses, clock } = this.#options;
    const { signal, log } = context;
    const { uid = "" } = object.metadata;
    if (!hasFinalizer(object, FINALIZER)) {
      this.#since.delete(uid);
      return undefined;
    }
    if (binding) {
      const running = await original(signal);
      if (running !== undefined) {
        log.warn(`not releasing the object: ${running}`);
        return { requeueAfter: SOON * 20 };
      }
      if (!(await this.release(object, binding, context))) return { requeueAfter: SOON };
    }
    // Of an object that stays, nobody would say later that its workload is awake.
    if (object.metadata.deletionTimestamp === undefined) {
      await statuses.write(object, statusOfReleased(object, clock.now()), context.term);
    }
    await removeFinalizer(elastiServices, object, FINALIZER, { signal });
    return undefined;
  }

  /** Gives one Service back; false while it is too early, since no pod is ready yet or the original runs. */
  async release(object: StoredElastiService, binding: Binding, context: ObjectContext): Promise<boolean> {
    const { path, routes, leftovers, original, restoreWorkload, dryRun } = this.#options;
    if ((await original(context.signal)) !== undefined) return false;
    const { status } = object;
    const { uid = "" } = object.metadata;
    const owner = this.#otherOwner(object, binding);
    if (owner) {
      await this.#yieldTo(owner, object, binding, context);
      this.#since.delete(uid);
      return true;
    }
    if (dryRun && !this.#isHeld(object, binding)) return true;
    const former = formerWorkload(binding, { status, served: undefined, state: status?.state });
    if (former) await restoreWorkload.run(former, context);
    const { pausedScaledObject: paused } = status ?? {};
    if (paused && !this.#since.has(uid)) {
      await restoreWorkload.resume(binding.namespace, paused, context, { active: !this.#isReady(binding) });
    }
    if (!(await this.#isAwake(object, binding, context))) return false;
    const { namespace, service } = binding;
    for (const name of new Set([paused ?? "", scaledObjectOf(binding.autoscaler)])) {
      if (name !== "") await restoreWorkload.calm(namespace, name, context);
    }
    await routes.leave(namespace, service, [status?.route, binding.route], context);
    await path.leave(namespace, service, context);
    for (const line of await leftovers.clean(namespace, service, context)) context.log.info(line);
    this.#since.delete(uid);
    return true;
  }

  /** How another ElastiService looks after the Service by now. */
  #otherOwner({ metadata }: StoredElastiService, { namespace, service }: Binding): Binding | undefined {
    const { bindings } = this.#options;
    const owner = bindings.ownerOf(serviceKey(namespace, service));
    if (!owner || owner.metadata.uid === metadata.uid) return undefined;
    const understood = bindings.understand(owner);
    return understood.kind === "service" ? understood.binding : undefined;
  }

  /**
   * Leaves the Service to the ElastiService that looks after it, with its path, and with the route, the ScaledObject and the workload that it names. What this object led away, paused
   * or put to sleep besides is put back: nobody else would.
   */
  async #yieldTo(
    owner: Binding,
    { status }: StoredElastiService,
    binding: Binding,
    context: ObjectContext,
  ): Promise<void> {
    const { routes, restoreWorkload } = this.#options;
    const { namespace, service } = binding;
    const paused = status?.pausedScaledObject;
    await routes.leave(namespace, service, [status?.route], { ...context, kept: owner.route });
    if (paused && paused !== scaledObjectOf(owner.autoscaler)) await restoreWorkload.resume(namespace, paused, context);
    const former = formerWorkload(binding, { status, served: undefined, state: status?.state });
    const left = former ?? { ...binding, asleep: paused !== undefined };
    if (!isSameTarget(left.target, owner.target)) await restoreWorkload.run(left, context);
  }

  /** Whether this program put the workload to sleep, or is in the path. */
  #isHeld({ status }: StoredElastiService, { namespace, service }: Binding): boolean {
    return status?.pausedScaledObject !== undefined || this.#options.path.isJoined(namespace, service);
  }

  #isReady({ namespace, service }: Binding): boolean {
    return (this.#options.pods(serviceKey(namespace, service))?.ready ?? 0) > 0;
  }

  /** Whether pods are ready, or nothing can be done about it. */
  async #isAwake(
    { metadata: { uid = "" } }: StoredElastiService,
    binding: Binding,
    context: ObjectContext,
  ): Promise<boolean> {
    const { restoreWorkload, clock } = this.#options;
    const { service } = binding;
    if (this.#isReady(binding)) return true;
    const since = this.#since.get(uid) ?? clock.monotonic();
    this.#since.set(uid, since);
    if (!(await restoreWorkload.wake(binding, context))) return true;
    if (clock.monotonic() - since < PATIENCE) return false;
    context.log.warn(
      `no pod of ${service} became ready within ${PATIENCE / 1000} s; its ElastiService is released all the same`,
    );
    return true;
  }
}
