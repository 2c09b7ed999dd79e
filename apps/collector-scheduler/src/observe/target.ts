import type { Labels } from "@evenkeel/relabel";

/** A target to be scraped. */
export interface Target {
  /** Hash of job and all labels: targets of the same identity are one. */
  readonly identity: string;
  /**
   * By which an owner is chosen: job, scheme, address, path and a hash of the parameters. It stays when other labels
   * change.
   */
  readonly key: string;
  /** Receiver and job, as `receiver/job`; jobs of two receivers may share a name. */
  readonly job: string;
  readonly address: string;
  /** After relabelling, without meta labels. */
  readonly labels: Labels;
  /** Seconds between two scrapes. */
  readonly interval: number;
  readonly zone?: string;
  readonly node?: string;
  /** From the annotation `evenkeel.io/expected-series`. */
  readonly expectedSeries?: number;
}

/** What changed in a catalogue of targets. */
export interface TargetChanges {
  readonly added: readonly Target[];
  readonly removed: readonly Target[];
}
