import type { Decider, Verdict } from "@evenkeel/runtime";
import { clusterScore, peerScore, type Score } from "./score.ts";
import type { ScoreSnapshot } from "./snapshot.ts";
import type { Standing } from "./standing.ts";

const ACTIONS = ["hold", "include", "exclude"] as const;

/** Why a member has its standing. The same words are metric labels, Event reasons and what the dashboard shows. */
const REASONS = [
  "Scored",
  "Paused",
  "OriginalRuns",
  "InvalidSpec",
  "OwnCluster",
  "ListedTwice",
  "ProxyLoop",
  "Unreachable",
  "Refused",
  "NoScore",
  "StaleScore",
  "NoPrediction",
  "NoNodes",
] as const;

export type ScoreReason = (typeof REASONS)[number];

type ScoreVerdict = Verdict<(typeof ACTIONS)[number], ScoreReason, Standing | null>;

/** A member's standing and why; with its score, unless that is unknown. */
export interface Judged {
  readonly standing: Standing;
  readonly reason: ScoreReason;
  readonly message: string;
  readonly score: Score | null;
}

/** Each change of a member's standing, or of the reason for it, is a decision. */
function decide(snapshot: ScoreSnapshot): ScoreVerdict {
  const { namespace, name, before, original } = snapshot;
  const object = { kind: "ClusterScore", namespace, name };
  if (original !== null) {
    const message = `The original wao-endpoint-proxy runs as ${original}; no score is written until it has stopped`;
    return { object, action: "hold", reason: "OriginalRuns", before, after: before, message };
  }
  const { standing, reason, message } = judgeMember(snapshot);
  const action = standing === before ? "hold" : standing === "Ready" ? "include" : "exclude";
  return { object, action, reason, before, after: standing, message };
}

/** What is known of a member, regardless of whether it may be written. */
export function judgeMember(snapshot: ScoreSnapshot): Judged {
  const { invalid, duplicate, paused, cluster, cost } = snapshot;
  const not = (standing: Standing, reason: ScoreReason, message: string): Judged => {
    return { standing, reason, message, score: null };
  };
  if (invalid !== null) return not("Unscored", "InvalidSpec", `The spec is invalid: ${invalid}`);
  if (duplicate !== null) return not("Duplicate", duplicate.reason, duplicate.message);
  const judged = cluster === null ? judgePeer(snapshot, not) : judgeOwn(cluster, cost ?? 0, not);
  if (!paused || judged.standing !== "Ready") return judged;
  const message = "The annotation evenkeel.io/paused is set; no replicas are placed there";
  return { ...judged, standing: "Paused", reason: "Paused", message };
}

type Not = (standing: Standing, reason: ScoreReason, message: string) => Judged;

function judgeOwn(cluster: NonNullable<ScoreSnapshot["cluster"]>, cost: number, not: Not): Judged {
  const score = clusterScore(cluster, cost);
  if (score !== null) return { standing: "Ready", reason: "Scored", message: wording(score), score };
  if (cluster.source === "capacity") return not("Unscored", "NoNodes", "No node is ready and takes pods");
  const fault = cluster.fault ?? cluster.nodes.find((node) => node.fault !== null)?.fault ?? "the cluster has no node";
  return not("Unscored", "NoPrediction", `No node has predicted watts: ${fault}`);
}

function judgePeer({ peer, cost, limit }: ScoreSnapshot, not: Not): Judged {
  if (peer === null) return not("Unscored", "NoScore", "The peer has not been asked yet");
  const { fault, score: said } = peer;
  if (fault?.reason === "Duplicate") return not("Duplicate", "ProxyLoop", fault.message);
  if (fault?.reason === "Unreachable") {
    // Its last score stays in sight until it is too old, but nothing new goes there.
    return { ...not("Unreachable", "Unreachable", fault.message), score: said && peerScore(said, cost) };
  }
  if (fault !== null) return not("Unscored", fault.reason, fault.message);
  if (said === null) return not("Unscored", "NoScore", "The peer has no score of itself");
  const score = peerScore(said, cost);
  if (said.age > limit) {
    const message = `The peer's score is ${seconds(said.age)} old, more than ${seconds(limit)}; check the peer's log for the cause`;
    return { ...not("Unscored", "StaleScore", message), score };
  }
  return { standing: "Ready", reason: "Scored", message: wording(score), score };
}

function wording({ source, nodes, failedNodes }: Score): string {
  const all = nodes.length + (failedNodes ?? 0);
  const of = `${failedNodes ? `${nodes.length} of ` : ""}${all} ${all === 1 ? "node" : "nodes"}`;
  return source === "watts" ? `Predicted watts of ${of}` : `CPU requests of ${of}, in per mille`;
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1000)}s`;
}

export const scoreDecider = { actions: ACTIONS, reasons: REASONS, decide } satisfies Decider<ScoreSnapshot>;
