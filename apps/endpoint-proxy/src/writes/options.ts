import type { Clock } from "@evenkeel/runtime";
import type { SplitSnapshot } from "../decide/split-snapshot.ts";
import type { SplitVerdict } from "../decide/split.ts";
import type { MemberClient } from "../members/member-client.ts";
import type { Members } from "../members/member.ts";
import type { VersionLayouts } from "../reads/version-vector.ts";
import type { BegunWrites } from "./begun-writes.ts";
import type { PlacedSince } from "./placed-since.ts";

/** What answers from several members need. */
export interface AnswersOptions {
  readonly members: Members;
  readonly client: MemberClient;
  readonly layouts: VersionLayouts;
  /** Takes the split of each write that was carried out, or that would have been in a dry run. */
  readonly record: (verdict: SplitVerdict, snapshot: SplitSnapshot) => void;
  readonly placedSince: PlacedSince;
  readonly begunWrites: BegunWrites;
  readonly clock: Clock;
  /** LABEL_KEY: the label that names the cluster of a copy. */
  readonly labelKey: string;
  /** The service's own `--dry-run`: no write is carried out. */
  readonly dryRun: boolean;
  /** Whether a write that splits tells the client where the replicas went, as a Warning. */
  readonly sayPlacement: boolean;
  /** Whether what workloads name is copied to the clusters where they run, unless their annotation says otherwise. */
  readonly followReferences: boolean;
  /** Milliseconds that a member has for an answer. */
  readonly deadline: number;
  /** The same for writes and their dry runs, which wait for webhooks; `deadline` if it is left out. */
  readonly writeDeadline?: number;
}
