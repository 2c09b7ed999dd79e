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
  /** The pods behind a Service, by its key; null if they are not known yet. */
  readonly pods: (key: string) => Pods | null;
  /** Why KubeElasti's operator counts as running; undefined if it does not run. */
  readonly original: (signal: AbortSignal) => Promise<string | undefined>;
  readonly clock: Clock;
  /** Milliseconds after which a workload that was scaled down is seen without its old pods. */
  readonly settle: number;
  readonly statuses: Statuses;
  /** `--dry-run`: only releases what this program redirected or scaled to 0, because no other record of it remains. */
  readonly dryRun: boolean;
}

/** Milliseconds for which a deleted object is kept if no pod becomes ready. */
const READY_TIMEOUT = 120_000;
const SOON = 500;

/**
 * Releases a Service to its pods when its ElastiService is deleted or released. It first wakes a sleeping workload and
 * holds requests until a pod is ready. Then it restores the path and removes the finalizer.
 */
export class ReleaseService {
  readonly #options: ReleaseServiceOptions;
  /** When the release of each object began, and when it last scaled its workload up, by the monotonic clock. */
  readonly #since = new Map<string, { readonly began: number; readonly wokeAt: number }>();

  constructor(options: ReleaseServiceOptions) {
    this.#options = options;
  }

  /** For the end of a term: another process leads. */
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
    // An object that stays keeps its status, so the status reports the release.
    if (object.metadata.deletionTimestamp === undefined) {
      await statuses.write(object, statusOfReleased(object, clock.now()), context.term);
    }
    await removeFinalizer(elastiServices, object, FINALIZER, { signal });
    return undefined;
  }

  /** Releases one Service. Resolves with false while no pod is ready, or while the original runs. */
  async release(object: StoredElastiService, binding: Binding, context: ObjectContext): Promise<boolean> {
    const { path, routes, leftovers, original, restoreWorkload, dryRun } = this.#options;
    if ((await original(context.signal)) !== undefined) return false;
    const { status } = object;
    const { uid = "" } = object.metadata;
    const owner = this.#otherOwner(object, binding);
    if (owner) {
      await this.#transferTo(owner, object, binding, context);
      this.#since.delete(uid);
      return true;
    }
    if (dryRun && !this.#needsRelease(object, binding)) {
      if (path.useOf(binding.namespace, binding.service)) await path.leave(binding.namespace, binding.service, context);
      return true;
    }
    const former = formerWorkload(binding, { status, served: undefined, state: status?.state });
    if (former) await restoreWorkload.run(former, context);
    const { pausedScaledObject: paused, scaledObject = "" } = status ?? {};
    if (paused && !this.#since.has(uid)) {
      await restoreWorkload.resume(binding.namespace, paused, context, { active: !this.#isReady(binding) });
    }
    if (!(await this.#isAwake(object, binding, context))) return false;
    const { namespace, service } = binding;
    for (const name of new Set([paused ?? "", scaledObject, scaledObjectOf(binding.autoscaler)])) {
      if (name !== "") await restoreWorkload.allowZero(namespace, name, context);
    }
    await routes.leave(namespace, service, [status?.route, binding.route], context);
    await path.leave(namespace, service, context);
    for (const line of await leftovers.clean(namespace, service, context)) context.log.info(line);
    this.#since.delete(uid);
    return true;
  }

  /** The binding of another ElastiService that manages the Service now. */
  #otherOwner({ metadata }: StoredElastiService, { namespace, service }: Binding): Binding | undefined {
    const { bindings } = this.#options;
    const owner = bindings.ownerOf(serviceKey(namespace, service));
    if (!owner || owner.metadata.uid === metadata.uid) return undefined;
    const understood = bindings.understand(owner);
    return understood.kind === "service" ? understood.binding : undefined;
  }

  /**
   * Leaves the Service to the ElastiService that manages it now, with its path and with the route, ScaledObject and
   * workload of that spec. Any other route, ScaledObject and workload of this object is restored, because nothing else
   * would do it.
   */
  async #transferTo(
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

  /** Whether this program scaled the workload to 0 or redirects its Service. */
  #needsRelease({ status }: StoredElastiService, { namespace, service }: Binding): boolean {
    return status?.pausedScaledObject !== undefined || this.#options.path.useOf(namespace, service) === "redirect";
  }

  #isReady({ namespace, service }: Binding): boolean {
    return (this.#options.pods(serviceKey(namespace, service))?.ready ?? 0) > 0;
  }

  /** Whether pods are ready, or waiting for them is pointless. */
  async #isAwake(object: StoredElastiService, binding: Binding, context: ObjectContext): Promise<boolean> {
    const { uid = "" } = object.metadata;
    const { restoreWorkload, clock, settle } = this.#options;
    const { service } = binding;
    const now = clock.monotonic();
    // Without a redirect, nothing was scaled down here. With one, pods that are still seen as ready may belong to a
    // workload that was scaled to 0 a moment ago.
    const isReady = this.#isReady(binding);
    if (isReady && !this.#needsRelease(object, binding)) return true;
    const { began, wokeAt } = this.#since.get(uid) ?? { began: now, wokeAt: -Infinity };
    this.#since.set(uid, { began, wokeAt });
    const outcome = await restoreWorkload.wake(binding, { ...context, readFirst: isReady });
    if (outcome === "failed") return true;
    if (outcome === "woken") this.#since.set(uid, { began, wokeAt: now });
    else if (isReady && now - wokeAt >= settle) return true;
    if (now - began < READY_TIMEOUT) return false;
    context.log.warn(
      `no pod of ${service} became ready within ${READY_TIMEOUT / 1000} s; its ElastiService is released all the same`,
    );
    return true;
  }
}
