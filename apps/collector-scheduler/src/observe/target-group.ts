import type { Labels } from "@evenkeel/relabel";

/** Targets that a source found together, before relabelling, as Prometheus's discovery gives them. */
export interface TargetGroup {
  /** Unique in its discovery block; the same while what it was made of (a pod, a file) stays. */
  readonly source: string;
  readonly labels: Labels;
  /** Each with `__address__`. */
  readonly targets: readonly Labels[];
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
