import type { Reason } from "../decide/reason.ts";
import type { Path, Pods, ServiceSnapshot } from "../decide/snapshot.ts";
import type { Stage, State } from "../decide/state.ts";
import type { Action } from "../decide/state-decider.ts";

/** What the leader remembers of one service. It is lost with the term, and found again from what the cluster shows. */
export interface Memory {
  readonly stage: Stage;
  /** When a probe through the Service first came back, since the resolver joined the path. */
  readonly provenAt: number | null;
  /** As the snapshot has it, or when it was woken since. */
  readonly idleSince: number | null;
  readonly lookedAt: number;
  /** How often in a row a request ended the way to sleep. */
  readonly interrupted: number;
}

/** What is seen of a service of which nothing is remembered. */
export interface Sight {
  readonly joined: Path["joined"];
  readonly pods: Pods | null;
  readonly replicas: number | null;
  readonly now: number;
}

/** Where a service stands that nobody remembers. A resolver in the path stays there until it is known that pods are ready. */
export function stageFound({ joined, pods, replicas, now }: Sight): Stage {
  const found = (state: State): Stage => ({ state, since: now, purpose: "safety", requests: null });
  if (!joined) return found("Serve");
  if (!pods || pods.ready + pods.leaving > 0) return found("Guard");
  return found(replicas === 0 ? "Zero" : "Wake");
}

/** Where it stands once a decision has been carried out. */
export function stageAfter(
  { stage, activity, at }: ServiceSnapshot,
  { after, reason }: { readonly after: State; readonly reason: string },
): Stage {
  if (after === stage.state) return stage;
  return {
    state: after,
    since: Date.parse(at),
    purpose: reason === "Idle" ? "sleep" : "safety",
    requests: activity?.requests ?? null,
  };
}

/** How often in a row a request has ended the way to sleep, once a decision has been carried out. Only sleep starts the count anew. */
export function interruptedAfter(
  { stage, interrupted = 0 }: Pick<ServiceSnapshot, "stage" | "interrupted">,
  { after, reason }: { readonly after: State; readonly reason: string },
): number {
  if (after === "Zero") return 0;
  const isInterrupted = stage.purpose === "sleep" && after === "Serve" && stage.state === "Guard";
  return isInterrupted && INTERRUPTIONS.has(reason) ? interrupted + 1 : interrupted;
}

/** Traffic that a trigger did not report before the resolver joined the path. */
const INTERRUPTIONS: ReadonlySet<string> = new Set<Reason>(["RequestSeen", "InFlight", "Busy"]);

/** What the workload is set to once a decision has been carried out. A wake changes 0 replicas alone, so it never lowers them. */
export function replicasAfter({ replicas, policy }: ServiceSnapshot, action: Action): number | null {
  if (action === "sleep") return 0;
  return action === "wake" ? Math.max(replicas ?? 0, policy.minReplicas) : replicas;
}

/** The services' memories, by key of their ElastiService. */
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
