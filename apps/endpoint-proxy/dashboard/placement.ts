import type { Decision } from "@evenkeel/dashboard/browser";

/** `placements.v1.Placement` in JSON: 64-bit numbers are texts, and what is unknown is absent. */
export interface Placement {
  /** `Kind/namespace/name`. */
  readonly workload: string;
  readonly replicas: string;
  readonly ready: string;
  readonly places: readonly Place[];
}

export interface Place {
  readonly cluster: string;
  readonly standing: string;
  /** Absent if the cluster could not be asked. */
  readonly replicas?: string;
  readonly ready?: string;
}

export interface Placements {
  readonly placements: readonly Placement[];
  readonly warnings: readonly string[];
  readonly truncated: boolean;
}

/** A part of a bar. */
export interface Segment {
  readonly cluster: string;
  readonly replicas: number;
  /** What stands behind the number, such as `4 ready`; may be empty. */
  readonly note: string;
}

/** A write that divided replicas. */
export interface Write {
  readonly decision: Decision;
  readonly segments: readonly Segment[];
}

/** The parts of a workload, and the clusters that could not be asked. */
export function segmentsOf({ places }: Placement): {
  readonly segments: readonly Segment[];
  readonly unknown: readonly string[];
} {
  return {
    segments: places.flatMap(({ cluster, replicas, ready = "0" }) =>
      replicas === undefined ? [] : [{ cluster, replicas: Number(replicas), note: `${ready} ready` }],
    ),
    unknown: places.filter(({ replicas }) => replicas === undefined).map(({ cluster }) => cluster),
  };
}

/** The decisions that are about replicas; the others are about clusters. */
export function writesOf(decisions: readonly Decision[]): readonly Write[] {
  return decisions
    .filter(({ object: { kind } }) => kind === "Deployment" || kind === "StatefulSet")
    .map((decision) => ({ decision, segments: partsIn(decision.after) }));
}

/** `tokyo 4, osaka 3`. */
export function segmentsText(segments: readonly Segment[]): string {
  const shown = segments.filter(({ replicas }) => replicas > 0);
  return shown.length === 0 ? "none" : shown.map(({ cluster, replicas }) => `${cluster} ${replicas}`).join(", ");
}

export function sumOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { replicas }) => sum + replicas, 0);
}

/** The parts as `decide/split.ts` decides them. */
function partsIn(value: unknown): readonly Segment[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly Partial<Segment>[]).map(({ cluster = "", replicas = 0, note = "" }) => ({
    ...{ cluster, replicas, note },
  }));
}
