import type { Reason } from "../decide/reason.ts";
import type { Path, Pods, ServiceSnapshot } from "../decide/snapshot.ts";
import type { Stage, State } from "../decide/state.ts";
import type { Action } from "../decide/state-decider.ts";

/** What the leader remembers of one service. It is lost at the end of the term and derived again from the cluster. */
export interface Memory {
  readonly stage: Stage;
  /** When a probe through the Service first reached the resolver since it joined the path. */
  readonly provenAt: number | null;
  /** As in the snapshot, or the time of a later wake or interruption. */
  readonly idleSince: number | null;
  readonly observedAt: number;
  /** As in the snapshot. */
  readonly replicasSeenAt: number | null;
  /** How many attempts to sleep in a row were interrupted. */
  readonly interrupted: number;
}

/** What the cluster shows of a service without memory. */
export interface ClusterFindings {
  readonly joined: Path["joined"];
  readonly pods: Pods | null;
  readonly replicas: number | null;
  readonly now: number;
}

/** The stage of a service without memory. A resolver in the path stays there until pods are known to be ready. */
export function stageFound({ joined, pods, replicas, now }: ClusterFindings): Stage {
  const found = (state: State): Stage => ({ state, since: now, purpose: "safety", requests: null });
  if (!joined) return found("Serve");
  if (!pods || pods.ready + pods.leaving > 0) return found("Guard");
  return found(replicas === 0 ? "Zero" : "Wake");
}

/** The stage after a decision was carried out. */
export function stageAfter(
  { stage, activity, at }: ServiceSnapshot,
  { after, reason }: { readonly after: State; readonly reason: string },
): Stage {
  const now = { since: Date.parse(at), requests: activity?.requests ?? null };
  if (after !== stage.state) return { state: after, purpose: reason === "Idle" ? "sleep" : "safety", ...now };
  // A replica of the resolver stopped: the quiet period begins again with the counts of the others.
  return reason === "ActivityUnknown" && activity ? { ...stage, ...now } : stage;
}

/** How many attempts to sleep in a row were interrupted, after a decision was carried out. Only sleep resets it. */
export function interruptedAfter(
  { stage, interrupted = 0 }: Pick<ServiceSnapshot, "stage" | "interrupted">,
  { after, reason }: { readonly after: State; readonly reason: string },
): number {
  if (after === "Zero") return 0;
  const isInterrupted = stage.purpose === "sleep" && after === "Serve" && stage.state === "Guard";
  return isInterrupted && INTERRUPTIONS.has(reason) ? interrupted + 1 : interrupted;
}

/** What was not so when the resolver joined the path, and may alternate: traffic, or that something is unknown. */
const INTERRUPTIONS: ReadonlySet<string> = new Set<Reason>([
  ...(["RequestSeen", "InFlight", "Busy"] as const),
  ...(["TriggerUnknown", "ActivityUnknown"] as const),
]);

/**
 * Since when a service is idle, after a decision was carried out: a wake and an interruption start the cooldown again.
 */
export function idleSinceAfter(
  { stage: before, idleSince, interrupted: times = 0 }: Pick<ServiceSnapshot, "stage" | "idleSince" | "interrupted">,
  { stage, interrupted }: Pick<Memory, "stage" | "interrupted">,
  now: number,
): number | null {
  return isWake(before.state, stage.state) || interrupted > times ? now : idleSince;
}

/**
 * Whether a service was woken. If a pod is ready before the leader reconciles, the service leaves Zero without passing
 * Wake.
 */
function isWake(before: State, after: State): boolean {
  return after !== before && (after === "Wake" || (before === "Zero" && after === "Guard"));
}

/** The replicas after a decision was carried out. A wake only changes 0 replicas, so it never lowers them. */
export function replicasAfter({ replicas, policy }: ServiceSnapshot, action: Action): number | null {
  if (action === "sleep") return 0;
  return action === "wake" ? Math.max(replicas ?? 0, policy.minReplicas) : replicas;
}

/** The memories of services, by key of their ElastiService. */
export class Memories {
  readonly #memories = new Map<string, Memory>();

  get(key: string): Memory | undefined {
    return this.#memories.get(key);
  }

  set(key: string, memory: Memory): void {
    this.#memories.set(key, memory);
  }

  delete(key: string): void {
    this.#memories.delete(key);
  }

  clear(): void {
    this.#memories.clear();
  }
}
