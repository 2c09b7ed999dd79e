import type { Pod, StatefulSet } from "@evenkeel/kube";
import { MOST_COLLECTORS } from "../decide/replicas.ts";
import type { Collector } from "../decide/snapshot.ts";

/** Where a node is; undefined if that is not known. */
export type ZoneOf = (node: string) => string | undefined;

export interface SeatsSeen {
  /** The uid of the CollectorLoadBalancer. */
  readonly uid: string;
  readonly statefulSet: StatefulSet | undefined;
  readonly pods: Iterable<Pod>;
  /** Names of the recorded members. Each has a seat, also after its pod is gone for good. */
  readonly members: readonly string[];
  readonly zoneOf: ZoneOf;
  readonly now: number;
}

/** Whether a seat has a ready pod, and since when, by the clock of this process. */
interface Presence {
  /** The uid of the pod; undefined while none is ready. */
  readonly ready: string | undefined;
  readonly since: number;
}

/**
 * The seats of collectors: one for each pod of a StatefulSet, for each ordinal that is to have a pod, and for each
 * member. It remembers since when a seat is ready or away. The times of pods are not used for that, because the clocks
 * of nodes differ.
 */
export class Seats {
  /** By the uid of the CollectorLoadBalancer, then by the name of the pod. */
  readonly #presences = new Map<string, ReadonlyMap<string, Presence>>();

  /** In the order of their ordinals. */
  observe({ uid, statefulSet, pods, members, zoneOf, now }: SeatsSeen): readonly Collector[] {
    const set = statefulSet?.metadata.name ?? "";
    const found = new Map<string, Pod | undefined>();
    for (const pod of pods) if (isOf(pod, set)) found.set(pod.metadata.name ?? "", pod);
    const replicas = Math.min(statefulSet?.spec?.replicas ?? 0, MOST_COLLECTORS);
    const expected = Array.from({ length: replicas }, (_, ordinal) => `${set}-${ordinal}`);
    for (const name of [...expected, ...members]) if (!found.has(name)) found.set(name, undefined);

    const before = this.#presences.get(uid);
    const presences = new Map<string, Presence>();
    const collectors: Collector[] = [];
    for (const [name, pod] of found) {
      const ordinal = ordinalOf(name);
      if (ordinal === undefined) continue;
      const presence = presenceOf(pod, before?.get(name), now);
      presences.set(name, presence);
      collectors.push({ name, ordinal, ...placeOf(pod, zoneOf), ...timesOf(presence), ...crashOf(pod) });
    }
    this.#presences.set(uid, presences);
    return collectors.sort((a, b) => a.ordinal - b.ordinal);
  }

  forget(uid: string): void {
    this.#presences.delete(uid);
  }

  endTerm(): void {
    this.#presences.clear();
  }
}

function presenceOf(pod: Pod | undefined, before: Presence | undefined, now: number): Presence {
  const condition = pod?.status?.conditions?.find(({ type }) => type === "Ready");
  const isReady = condition?.status === "True" && pod?.metadata.deletionTimestamp === undefined;
  const ready = isReady ? (pod?.metadata.uid ?? "") : undefined;
  if (before !== undefined) return before.ready === ready ? before : { ready, since: now };
  // A new leader must not take all collectors for new ones.
  const changedAt = isReady ? Date.parse(condition.lastTransitionTime ?? "") : NaN;
  return { ready, since: Number.isNaN(changedAt) ? now : Math.min(changedAt, now) };
}

function timesOf({ ready, since }: Presence): Pick<Collector, "awaySince" | "readySince"> {
  return ready === undefined ? { awaySince: since } : { awaySince: null, readySince: since };
}

function crashOf(pod: Pod | undefined): Pick<Collector, "hasCrashed"> {
  const hasCrashed = pod?.status?.containerStatuses?.some(({ restartCount }) => restartCount > 0) ?? false;
  return hasCrashed ? { hasCrashed } : {};
}

function placeOf(pod: Pod | undefined, zoneOf: ZoneOf): Pick<Collector, "zone" | "node"> {
  const node = pod?.spec?.nodeName;
  const zone = node === undefined ? undefined : zoneOf(node);
  return { ...(node !== undefined && { node }), ...(zone !== undefined && { zone }) };
}

/** Whether the StatefulSet made the pod. Another pod with the same labels is no collector. */
function isOf({ metadata: { name = "", ownerReferences = [] } }: Pod, set: string): boolean {
  const isOwned = ownerReferences.some((owner) => owner.kind === "StatefulSet" && owner.name === set);
  return isOwned && name === `${set}-${ordinalOf(name)}`;
}

function ordinalOf(name: string): number | undefined {
  const digits = /-(\d{1,9})$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
