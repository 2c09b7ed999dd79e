import { createHash } from "node:crypto";
import {
  applier,
  configMaps,
  type KubeClient,
  type KubeObject,
  type ResourceTypeOf,
  secrets,
  serviceAccounts,
  services,
  type StatefulSet,
  statefulSets,
} from "@evenkeel/kube";
import type { ActContext } from "@evenkeel/operator";
import type { Clock } from "@evenkeel/runtime";
import { type CollectorObjects, heldRestarts } from "./collector-objects.ts";
import { existingObject, type ForeignObject, foreignObject } from "./foreign-object.ts";

export interface WorkloadsOptions {
  readonly kube: Pick<KubeClient, "resource">;
  readonly clock: Clock;
}

/** Milliseconds after which objects are applied again although nothing has changed. */
const RESYNC = 300_000;
/** Milliseconds in which two rewrites of a StatefulSet by somebody else count. */
const CONTEST = 600_000;

/** What is known of one CollectorLoadBalancer's objects since they were last applied. */
interface Applied {
  readonly hash: string;
  readonly at: number;
  /** metadata.generation of the StatefulSet. */
  readonly generation: number;
  /** When somebody else's writes to it were undone. */
  readonly rewrites: readonly number[];
}

/**
 * Keeps the objects of collectors as they are to be, by server-side apply. It writes when something is to change, when
 * somebody else wrote to the StatefulSet, and every few minutes. Whoever rewrites the StatefulSet twice gets it: two
 * controllers that undo each other's work would restart every collector over and over. An object of somebody else with
 * the same name is never written to.
 */
export class Workloads {
  readonly #options: WorkloadsOptions;
  readonly #applier = applier("collector-scheduler");
  /** By the uid of the CollectorLoadBalancer. */
  readonly #applied = new Map<string, Applied>();

  constructor(options: WorkloadsOptions) {
    this.#options = options;
  }

  /**
   * Whether somebody else rewrites the StatefulSet. Then nothing is applied until the CollectorLoadBalancer changes.
   */
  isContested(uid: string, hash: string): boolean {
    const known = this.#applied.get(uid);
    return known !== undefined && known.hash === hash && known.rewrites.length >= 2;
  }

  /**
   * `present` is the StatefulSet as it was last seen. Resolves with whether something was written. If one of the
   * objects exists and belongs to somebody else, nothing is written, and that one is named.
   */
  async apply(
    owner: KubeObject,
    wanted: CollectorObjects,
    present: StatefulSet | undefined,
    { checked, signal }: ActContext,
  ): Promise<"applied" | "same" | "contested" | ForeignObject> {
    const { kube, clock } = this.#options;
    const { uid = "" } = owner.metadata;
    const objects = { ...wanted, statefulSet: heldRestarts(wanted.statefulSet, present) };
    const hash = hashOf(objects);
    const known = this.#applied.get(uid);
    const now = clock.now();
    const isSame = known?.hash === hash;
    const isRewritten = isSame && present !== undefined && (present.metadata.generation ?? 0) > known.generation;
    if (isSame && this.isContested(uid, hash)) return "contested";
    if (isSame && !isRewritten && present !== undefined && now - known.at < RESYNC) return "same";
    const apply = <T extends KubeObject>(type: ResourceTypeOf<T>, object: T) =>
      this.#applier.apply(checked(kube.resource(type)), object, { signal });
    const foreign = await this.#foreign(owner, objects, signal);
    if (foreign !== undefined) return foreign;
    await apply(serviceAccounts, objects.serviceAccount);
    await apply(configMaps, objects.configMap);
    await apply(secrets, objects.secret);
    await apply(services, objects.service);
    const { metadata } = await apply(statefulSets, objects.statefulSet);
    const generation = metadata.generation ?? 0;
    // Only a write that had to be undone counts: a field that is not ours may belong to somebody else.
    const isUndone = isRewritten && generation > (present.metadata.generation ?? 0);
    const recent = (isSame ? known.rewrites : []).filter((at) => now - at < CONTEST);
    this.#applied.set(uid, { hash, at: now, generation, rewrites: isUndone ? [...recent, now] : recent });
    return "applied";
  }

  async #foreign(
    owner: KubeObject,
    { serviceAccount, configMap, secret, service, statefulSet }: CollectorObjects,
    signal: AbortSignal,
  ): Promise<ForeignObject | undefined> {
    const { kube } = this.#options;
    const find = async <T extends KubeObject>(type: ResourceTypeOf<T>, object: T) => {
      const existing = await existingObject(kube.resource(type), object, { signal });
      return existing && foreignObject(existing, object, owner);
    };
    return (
      (await find(statefulSets, statefulSet)) ??
      (await find(serviceAccounts, serviceAccount)) ??
      (await find(configMaps, configMap)) ??
      (await find(secrets, secret)) ??
      (await find(services, service))
    );
  }

  forget(uid: string): void {
    this.#applied.delete(uid);
  }

  endTerm(): void {
    this.#applied.clear();
  }
}

function hashOf(objects: CollectorObjects): string {
  return createHash("sha256").update(JSON.stringify(objects)).digest("hex");
}
