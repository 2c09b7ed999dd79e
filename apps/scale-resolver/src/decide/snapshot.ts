import type { Snapshot } from "@evenkeel/runtime";
import type { Stage } from "./state.ts";

/**
 * Everything that the next state of one service depends on. Times are in milliseconds. Null means unknown or not set.
 */
export interface ServiceSnapshot extends Snapshot {
  readonly elastiService: { readonly namespace: string; readonly name: string; readonly generation: number };
  /** The Service's name. */
  readonly service: string;
  readonly policy: Policy;
  /** Whether the object sets dry run, which keeps the service in Serve. */
  readonly dryRun: boolean;
  /** Why the spec is invalid, one sentence. Then an older spec is in force, and the service is not scaled to 0. */
  readonly specFault?: string;
  /**
   * Why the workload can never be scaled, a clause: it does not exist or its kind is wrong. Then nothing is redirected.
   */
  readonly targetFault?: string;
  /** Why nothing may be changed; null if changes are allowed. */
  readonly blocked: Blockage | null;
  /** Why nodes would drop requests of the Service while it is redirected, a clause. Absent: they would not. */
  readonly localOnly?: string;
  readonly stage: Stage;
  /** The replicas of the workload's spec. */
  readonly replicas: number | null;
  /** When the workload was last seen with replicas. Absent: not since this process leads. */
  readonly replicasSeenAt?: number | null;
  /** Why the replicas could not be read, for a person. */
  readonly scaleFault?: string;
  readonly pods: Pods | null;
  readonly path: Path;
  /** The sum of all replicas of the resolver; null while one of them has not reported. */
  readonly activity: Activity | null;
  /** The results of the triggers. Empty: the spec has none, so the service is never scaled to 0. */
  readonly triggers: readonly TriggerReading[];
  /** Whether the time is inside `enabledPeriod`. */
  readonly withinPeriod: boolean;
  /** Why `enabledPeriod` cannot be evaluated, which counts as outside. */
  readonly periodFault?: string;
  /** Whether the last ready pod is about to be evicted, and a caller asked to hold requests. */
  readonly drainPrepared: boolean;
  /** When the object was created. */
  readonly createdAt: number | null;
  /**
   * The latest of: last wake, last request at the resolver, last trigger result that showed traffic, last interrupted
   * attempt to sleep. Time during which a trigger was unknown is added.
   */
  readonly idleSince: number | null;
  /** How many attempts to sleep in a row were interrupted. Absent: none. */
  readonly interrupted?: number;
}

export interface Policy {
  readonly minReplicas: number;
  /** How long the triggers must report idle, and the object must exist, before the service is scaled to 0. */
  readonly cooldown: number;
  /** How long no request may arrive, with the resolver in the path, before the service is scaled to 0. */
  readonly quiet: number;
  /**
   * Minimum time for which the resolver stays in the path, so that an unstable pod does not switch the path repeatedly.
   */
  readonly settle: number;
}

export interface Blockage {
  readonly reason: "Paused" | "OriginalRuns" | "Unsupported";
  /** Completes a sentence: `the annotation evenkeel.io/paused is set`. */
  readonly message: string;
}

/** The pods behind the Service, from its EndpointSlices. */
export interface Pods {
  readonly ready: number;
  /** Pods that are terminating and still serve. */
  readonly leaving: number;
  /** Pods that are neither ready nor terminating: they start, or fail. */
  readonly starting: number;
}

/** The resolver in the path of the Service. */
export interface Path {
  /** Whether the resolver's EndpointSlices exist. */
  readonly joined: boolean;
  /** Number of ready replicas of the resolver. */
  readonly resolvers: number;
  /** Address families of the Service that no ready resolver has. Absent: none. */
  readonly unreached?: readonly ("IPv4" | "IPv6")[];
  /** Number of the Service's ports on which the leader could not listen. Absent: none. */
  readonly unbound?: number;
  /** When a probe through the Service first reached the resolver since it joined the path. */
  readonly provenAt: number | null;
}

export interface Activity {
  /** Number of waiting requests. */
  readonly pending: number;
  /** Number of requests in flight to pods. */
  readonly inFlight: number;
  /** Total number of requests. It decreases when a replica of the resolver stops. */
  readonly requests: number;
  readonly lastRequestAt: number | null;
}

export interface TriggerReading {
  /** The trigger's name for a person, such as `prometheus sum(rate(requests[1m]))`. */
  readonly trigger: string;
  readonly verdict: "idle" | "busy" | "unknown";
  /** The result: `0.2 is below 0.5`, or why there is none. */
  readonly message: string;
}
