import type { Pod, StatefulSet } from "@evenkeel/kube";
import type { Collector } from "../decide/snapshot.ts";

/** Where a node is; undefined if that is not known. */
export type ZoneOf = (node: string) => string | undefined;

/**
 * The seats of collectors: one for each pod of a StatefulSet, and one for each ordinal that is to have a pod. It
 * remembers since when a seat is empty, because nothing else does.
 */
export class Seats {
  /** By the uid of the CollectorLoadBalancer, then by the name of the pod: when it was first seen to be gone. */
  readonly #gone = new Map<string, Map<string, number>>();

  /** In the order of their ordinals. */
  observe(
    uid: string,
    statefulSet: StatefulSet | undefined,
    pods: Iterable<Pod>,
    zoneOf: ZoneOf,
    now: number,
  ): readonly Collector[] {
    const name = statefulSet?.metadata.name ?? "";
    const found = new Map<string, Collector>();
    for (const pod of pods) {
      const ordinal = ordinalOf(pod, name);
      if (ordinal !== undefined) found.set(pod.metadata.name ?? "", collectorOf(pod, ordinal, zoneOf, now));
    }
    const before = this.#gone.get(uid) ?? new Map<string, number>();
    const gone = new Map<string, number>();
    for (let ordinal = 0; ordinal < (statefulSet?.spec?.replicas ?? 0); ordinal++) {
      const seat = `${name}-${ordinal}`;
      if (found.has(seat)) continue;
      const since = before.get(seat) ?? now;
      gone.set(seat, since);
      found.set(seat, { name: seat, ordinal, awaySince: since });
    }
    this.#gone.set(uid, gone);
    return [...found.values()].sort((a, b) => a.ordinal - b.ordinal);
  }

  forget(uid: string): void {
    this.#gone.delete(uid);
  }

  endTerm(): void {
    this.#gone.clear();
  }
}

function collectorOf({ metadata, spec, status }: Pod, ordinal: number, zoneOf: ZoneOf, now: number): Collector {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const isReady = ready?.status === "True" && metadata.deletionTimestamp === undefined;
  const node = spec?.nodeName;
  const zone = node === undefined ? undefined : zoneOf(node);
  const changedAt = Date.parse(
    metadata.deletionTimestamp ?? ready?.lastTransitionTime ?? metadata.creationTimestamp ?? "",
  );
  return {
    name: metadata.name ?? "",
    ordinal,
    ...(node !== undefined && { node }),
    ...(zone !== undefined && { zone }),
    awaySince: isReady ? null : Math.min(Number.isNaN(changedAt) ? now : changedAt, now),
  };
}

/** Of a pod that the StatefulSet made. Another pod with the same labels is no collector. */
function ordinalOf({ metadata }: Pod, statefulSet: string): number | undefined {
  const isOwned = metadata.ownerReferences?.some(({ kind, name }) => kind === "StatefulSet" && name === statefulSet);
  const { name = "" } = metadata;
  const digits = name.startsWith(`${statefulSet}-`) ? name.slice(statefulSet.length + 1) : "";
  return isOwned && /^\d{1,9}$/.test(digits) ? Number(digits) : undefined;
}
