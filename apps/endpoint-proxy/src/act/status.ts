import type { ClusterScoreStatus } from "@evenkeel/api";
import { judge, type Judgement, type Nulled, setConditions } from "@evenkeel/kube";
import { conditionsAfterFailure, judgeFailure } from "@evenkeel/operator";
import type { StoredClusterScore } from "../cluster-score-resource.ts";
import type { OwnName } from "../decide/own-name.ts";
import type { Judged } from "../decide/score-decider.ts";
import type { ScoreSnapshot } from "../decide/snapshot.ts";

/** What a reconcile found, as far as the status shows it. */
export interface Finding {
  readonly snapshot: ScoreSnapshot;
  readonly judged: Judged;
  /** Milliseconds that a peer took to answer. */
  readonly latency: number | null;
  readonly serverVersion: string | null;
  readonly clusterUid: string | null;
  /** Of the own cluster alone. */
  readonly naming: Omit<OwnName, "name"> | null;
  /** What is added to the message of a member that is ready; empty if nothing. */
  readonly note: string;
  /** Why the region of a peer was not written into its spec; null if it was, or need not be. */
  readonly regionRefusal: Error | null;
}

/** The status after a reconcile. A score that is unknown or too old is removed: no reader may use it. */
export function statusAfter(
  { metadata, status = {} }: StoredClusterScore,
  finding: Finding,
  now: number,
): Nulled<ClusterScoreStatus> {
  const { snapshot, judged, latency, serverVersion, clusterUid } = finding;
  const age = snapshot.peer?.score?.age ?? 0;
  const score = isUsable(finding) ? judged.score : null;
  const judgements = conditionsOf(finding, metadata.generation ?? 0);
  return {
    score: score?.score ?? null,
    nodes: score ? [...score.nodes] : null,
    updateTimestamp: score ? stamp(now - age) : (status.updateTimestamp ?? null),
    source: score?.source ?? null,
    cost: score && score.cost !== 0 ? score.cost : null,
    free: score?.free ?? null,
    whole: score?.whole ?? null,
    marginalWatts: score?.marginalWatts ?? null,
    failedNodes: score?.failedNodes ?? null,
    ageSeconds: score ? Math.round(age / 1000) : null,
    latencyMilliseconds: latency,
    serverVersion: serverVersion ?? status.serverVersion ?? null,
    clusterUid: clusterUid ?? status.clusterUid ?? null,
    conditions: [...setConditions(status.conditions ?? [], judgements, now)],
  };
}

/** The status after a reconcile that failed: all but the condition Ready stays, and scores become old. */
export function statusAfterFailure(
  present: ClusterScoreStatus | undefined,
  error: unknown,
  generation: number,
  now: number,
): Nulled<ClusterScoreStatus> {
  const conditions = conditionsAfterFailure(present?.conditions, error, generation, now);
  return present?.conditions === conditions ? present : { conditions: [...conditions] };
}

/** Whether the score is known and not too old. */
export function isUsable({ judged, snapshot }: Pick<Finding, "judged" | "snapshot">): boolean {
  return judged.score !== null && (snapshot.peer?.score?.age ?? 0) <= snapshot.limit;
}

/** Whether a decision is a warning. */
export function isWarning({ reason }: { readonly reason: string }): boolean {
  return reason !== "Scored" && reason !== "Paused";
}

function conditionsOf(finding: Finding, generation: number): readonly Judgement[] {
  const { snapshot, judged, naming, note, regionRefusal } = finding;
  const { reason, message, standing } = judged;
  const of = (type: string, holds: boolean | undefined, why: string, text: string) =>
    judge(type, holds, why, text, generation);
  const isDuplicate = standing === "Duplicate";
  const usable = isUsable(finding);
  return [
    regionRefusal === null
      ? of("Ready", standing === "Ready", reason, standing === "Ready" && note !== "" ? `${message}. ${note}` : message)
      : judgeFailure(regionRefusal, generation),
    reachable(snapshot, judged, of),
    of("Scored", usable, usable ? "Scored" : reason, usable ? "" : message),
    of("Duplicate", isDuplicate, isDuplicate ? reason : "Unique", isDuplicate ? message : ""),
    ...(naming ? [of("RegionKnown", naming.reason === "Labelled", naming.reason, naming.message)] : []),
  ];
}

function reachable(
  { cluster, peer }: ScoreSnapshot,
  { message }: Judged,
  of: (type: string, holds: boolean | undefined, why: string, text: string) => Judgement,
): Judgement {
  if (cluster !== null) return of("Reachable", true, "OwnCluster", "");
  if (peer === null) return of("Reachable", undefined, "NotAsked", "");
  return peer.answered ? of("Reachable", true, "Answered", "") : of("Reachable", false, "Unreachable", message);
}

/** metav1.Time has whole seconds. */
function stamp(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
}
