import type { Labels } from "@evenkeel/relabel";

/** Targets that a source found together, before relabelling, as Prometheus's discovery gives them. */
export interface TargetGroup {
  /** Unique in its discovery block; the same while what it was made of (a pod, a file) stays. */
  readonly source: string;
  readonly labels: Labels;
  /** Each with `__address__`. */
  readonly targets: readonly Labels[];
}

/** Characters of the labels of a group, or of an address, at most: each target of the group has them. */
export const LONGEST_LABELS = 65_536;

/** Targets of which labels are changed in one go. */
const PART = 1000;

/** A group of many targets as several, `source`, `source/1`, `source/2`…, so that none takes long. */
export function partsOf(group: TargetGroup): readonly TargetGroup[] {
  const { source, labels, targets } = group;
  if (targets.length <= PART) return [group];
  return Array.from({ length: Math.ceil(targets.length / PART) }, (_, part) => ({
    source: part === 0 ? source : `${source}/${part}`,
    labels,
    targets: targets.slice(part * PART, (part + 1) * PART),
  }));
}

/** Characters of names and values. */
export function lengthOfLabels(labels: Readonly<Record<string, string>>): number {
  return Object.entries(labels).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}

/** How a discovery block is doing. */
export interface SourceHealth {
  /** Whether it has answered once. Until then nothing of its job is served. */
  readonly answered: boolean;
  /** When it last answered well, in milliseconds. */
  readonly goodAt?: number;
  /** Why the last try failed; the last good answer stays in force. */
  readonly fault?: string;
}

/** Where a running discovery block puts what it finds. */
export interface GroupSink {
  /** Groups that are new or changed. One without targets is gone. */
  update(groups: readonly TargetGroup[]): void;
  health(health: SourceHealth): void;
}
