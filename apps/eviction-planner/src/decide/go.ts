import type { Snapshot } from "@evenkeel/runtime";

/** What a peer says to the eviction of a pod. `working` means that it was not ready in time. */
export interface PeerAnswer {
  readonly peer: string;
  readonly answer: "ready" | "notConcerned" | "working" | "refused" | "away";
  readonly message: string;
}

/** Everything that the last decision before an eviction depends on, read anew just before its call. */
export interface GoSnapshot extends Snapshot {
  readonly question: "go";
  readonly policy: string;
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string; readonly node: string };
  /** Milliseconds since the plan was made, and how old it may be. */
  readonly planAge: number;
  readonly planTtl: number;
  /** The pod of this name as it is now; null if there is none. */
  readonly present: {
    readonly uid: string;
    readonly node: string | null;
    readonly terminating: boolean;
    readonly ready: boolean;
    /** It is pinned, or an annotation forbids its eviction. */
    readonly forbidden: boolean;
  } | null;
  /** The PodDisruptionBudgets that match the pod now. */
  readonly disruptionBudgets: readonly {
    readonly name: string;
    readonly allowed: number;
    /** Its status describes the present state, with the last eviction under it. */
    readonly isCurrent: boolean;
  }[];
  readonly respectPDB: boolean;
  readonly peers: readonly PeerAnswer[];
  /** Ready pods of its workload besides it. */
  readonly siblings: number;
}

export const GO_REASONS = [
  "Evicting",
  "PlanTooOld",
  "PodChanged",
  "PodNotReady",
  "EvictionForbidden",
  "DisruptionBudgetSpent",
  "PeerRefused",
  "PeerWorking",
  "PeerAway",
] as const;

export type GoReason = (typeof GO_REASONS)[number];

export interface GoVerdict {
  readonly go: boolean;
  readonly reason: GoReason;
  readonly message: string;
}

/** Whether the pod is evicted now. Peers are asked only if everything else allows it. */
export function goOrNot(snapshot: GoSnapshot): GoVerdict {
  const { policy, pod, planAge, planTtl, peers, siblings } = snapshot;
  const hold = (reason: GoReason, message: string): GoVerdict => ({ go: false, reason, message });
  if (planAge > planTtl) return hold("PlanTooOld", "The plan is older than --plan-ttl; the next plan decides anew");
  const changed = changeOf(snapshot);
  if (changed !== null) return changed;
  const saying = (answer: PeerAnswer["answer"]) => peers.find((peer) => peer.answer === answer);
  const [refusing, working, away] = [saying("refused"), saying("working"), saying("away")];
  if (refusing) return hold("PeerRefused", `${refusing.peer} refused: ${refusing.message}`);
  if (working) return hold("PeerWorking", `${working.peer} is not ready in time: ${working.message}`);
  if (away && siblings === 0) {
    return hold("PeerAway", `${away.peer} is unreachable, and no other ready pod of the workload is left`);
  }
  return { go: true, reason: "Evicting", message: `RebalancePolicy ${policy} evicts the pod from ${pod.node}` };
}

function changeOf({ pod, present, disruptionBudgets, respectPDB }: GoSnapshot): GoVerdict | null {
  const hold = (reason: GoReason, message: string): GoVerdict => ({ go: false, reason, message });
  if (present?.uid !== pod.uid || present.terminating || present.node !== pod.node) {
    return hold("PodChanged", "The pod is gone, terminating or on another node since the plan");
  }
  if (present.forbidden) return hold("EvictionForbidden", "An annotation of the pod forbids its eviction now");
  if (!present.ready) return hold("PodNotReady", "The pod is no longer ready");
  if (!respectPDB) return null;
  const names = disruptionBudgets.map(({ name }) => name).join(", ");
  if (disruptionBudgets.length > 1)
    return hold("DisruptionBudgetSpent", `Several PodDisruptionBudgets match: ${names}`);
  const spent = disruptionBudgets.find(({ allowed, isCurrent }) => allowed < 1 || !isCurrent);
  return spent === undefined ? null : hold("DisruptionBudgetSpent", `${spent.name} allows no disruption now`);
}
