import type { Snapshot } from "@evenkeel/runtime";
import type { Stage } from "./state.ts";

/** Everything that the next state of one service depends on. Times are milliseconds; null is what is unknown or not set. */
export interface ServiceSnapshot extends Snapshot {
  readonly elastiService: { readonly namespace: string; readonly name: string; readonly generation: number };
  /** The Service's name. */
  readonly service: string;
  readonly policy: Policy;
  /** The object asks for a dry run: it is kept in Serve. */
  readonly dryRun: boolean;
  /** What is in force is not what the spec says, since that cannot be understood: one sentence. Then nothing is put to sleep. */
  readonly specFault?: string;
  /** Why the workload can never be scaled, since it is not there or is of a wrong kind: a clause. Then nothing is redirected. */
  readonly targetFault?: string;
  /** Why nothing may be done whatever is seen; null when nothing is in the way. */
  readonly blocked: Blockage | null;
  /** Why nodes would drop the requests of a Service that is redirected, and must be no longer: a clause. Absent: they would not. */
  readonly localOnly?: string;
  readonly stage: Stage;
  /** What the workload is set to. */
  readonly replicas: number | null;
  /** Why that could not be read, for a person. */
  readonly scaleFault?: string;
  readonly pods: Pods | null;
  readonly path: Path;
  /** Of all replicas of the resolver together; null while one of them is not heard of. */
  readonly activity: Activity | null;
  /** What says whether the service is idle. Empty: nothing does, so it is never put to sleep. */
  readonly triggers: readonly TriggerReading[];
  /** Whether the clock is inside of `enabledPeriod`. */
  readonly withinPeriod: boolean;
  /** Why it cannot be told, which counts as outside. */
  readonly periodFault?: string;
  /** Somebody prepares to take the last pod away, and asked for requests to be held. */
  readonly drainPrepared: boolean;
  /** When the object was made. */
  readonly createdAt: number | null;
  /** The last wake, request at the resolver or look at which a trigger said busy, and later by the time for which one said nothing. */
  readonly idleSince: number | null;
  /** How often in a row a request ended the way to sleep. Absent: never. */
  readonly interrupted?: number;
}

export interface Policy {
  readonly minReplicas: number;
  /** How long the triggers must have said idle, and the object have been there, before the service is put to sleep. */
  readonly cooldown: number;
  /** How long no request may have come, with the resolver in the path, before the service is put to sleep. */
  readonly quiet: number;
  /** How long the resolver stays in the path at least, so that a pod that comes and goes does not switch it to and fro. */
  readonly settle: number;
}

export interface Blockage {
  readonly reason: "Paused" | "OriginalRuns" | "Unsupported";
  /** A sentence's end: `the annotation evenkeel.io/paused is set`. */
  readonly message: string;
}

/** The pods behind the Service, as its EndpointSlices have them. */
export interface Pods {
  readonly ready: number;
  /** They still serve, and are about to go. */
  readonly leaving: number;
  /** Neither ready nor leaving: they start, or fail. */
  readonly starting: number;
}

/** The resolver in the Service's path. */
export interface Path {
  /** Its EndpointSlices are there. */
  readonly joined: boolean;
  /** Resolver pods that are ready to take requests. */
  readonly resolvers: number;
  /** Families that the Service has and no resolver that is ready. Absent: none. */
  readonly unreached?: readonly ("IPv4" | "IPv6")[];
  /** Ports for the Service on which the resolver that leads could not listen. Absent: none. */
  readonly unbound?: number;
  /** When a probe through the Service first came back to the resolver, since it joined. */
  readonly provenAt: number | null;
}

export interface Activity {
  /** Requests that wait. */
  readonly pending: number;
  /** Requests on their way to pods and back. */
  readonly inFlight: number;
  /** Requests so far. It does not fall while the same resolvers run. */
  readonly requests: number;
  readonly lastRequestAt: number | null;
}

export interface TriggerReading {
  /** How a person would name it, such as `prometheus sum(rate(requests[1m]))`. */
  readonly trigger: string;
  readonly verdict: "idle" | "busy" | "unknown";
  /** What was read: `0.2 is below 0.5`, or why nothing was. */
  readonly message: string;
}
