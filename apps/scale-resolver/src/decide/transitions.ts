import type { Reason } from "./reason.ts";
import type { State } from "./state.ts";
import type { Action } from "./state-decider.ts";

/** One transition of a service from a state, or a reason to stay in it. */
export interface Transition {
  /** `any`: from each state, to the same. */
  readonly from: State | "any";
  readonly to: State | "same";
  readonly action: Action;
  readonly reason: Reason;
  /** Completes a sentence that begins with `when`. */
  readonly when: string;
}

/**
 * Every transition of the state machine, in evaluation order. A transition with several causes is listed at its first
 * cause. Tests compare the decider with this table, and the documentation shows it.
 */
export const TRANSITIONS: readonly Transition[] = [
  stays("any", "OriginalRuns", "KubeElasti's operator is running"),
  stays("any", "Paused", "the annotation evenkeel.io/paused is set"),
  stays("any", "Unsupported", "the Service cannot be redirected to the resolver"),

  stays("Serve", "TargetNotFound", "the workload of scaleTargetRef does not exist, or cannot be scaled"),
  stays("Serve", "NoResolver", "no resolver is ready, or none for a family or a port of the Service"),
  goes("Serve", "Guard", "join", "DrainPrepared", "the last ready pod is about to be evicted"),
  goes("Serve", "Guard", "join", "NothingServes", "no pod is ready, and none is terminating"),
  goes("Serve", "Guard", "join", "LastPodLeaving", "no pod is ready, and some are terminating"),
  stays("Serve", "InvalidSpec", "the spec, or its enabledPeriod, is invalid"),
  stays("Serve", "NoTrigger", "the spec has no triggers"),
  stays("Serve", "Busy", "a trigger reports traffic"),
  stays("Serve", "TriggerUnknown", "a trigger cannot be evaluated"),
  stays(
    "Serve",
    "Cooldown",
    "less than cooldownPeriod has passed since the object was created, last woken or last had traffic",
  ),
  stays("Serve", "OutsidePeriod", "the time is outside enabledPeriod"),
  stays("Serve", "EndpointsUnknown", "the endpoints of the Service are not known"),
  stays("Serve", "ActivityUnknown", "a replica of the resolver does not report its requests"),
  goes("Serve", "Guard", "join", "Idle", "all triggers report idle, and no row above applies"),

  stays("Guard", "EndpointsUnknown", "the endpoints of the Service are not known"),
  stays("Guard", "ReplicasUnknown", "no pod serves or it is about to sleep, and the scale cannot be read"),
  goes("Guard", "Zero", "move", "ScaledToZero", "no pod serves, and the workload is at 0 replicas"),
  goes("Guard", "Wake", "move", "PodsStarting", "no pod serves, and the workload has replicas"),
  stays(
    "Guard",
    "LastPodLeaving",
    "only terminating pods serve, or the workload is at 0 replicas and its pods end soon",
  ),
  stays("Guard", "DrainPrepared", "the last ready pod is about to be evicted"),
  goes("Guard", "Serve", "leave", "DryRun", "it is about to sleep, and dry run is set"),
  goes(
    "Guard",
    "Serve",
    "leave",
    "ActivityUnknown",
    "it is about to sleep, and a replica of the resolver does not report its requests",
  ),
  goes("Guard", "Serve", "leave", "RequestSeen", "it is about to sleep, and a request arrived"),
  goes("Guard", "Serve", "leave", "TargetNotFound", "it is about to sleep, and the workload is no longer found"),
  goes(
    "Guard",
    "Serve",
    "leave",
    "Unsupported",
    "it is about to sleep, and a traffic policy of the Service became Local",
  ),
  goes("Guard", "Serve", "leave", "InvalidSpec", "it is about to sleep, and the spec became invalid"),
  goes("Guard", "Serve", "leave", "NoTrigger", "it is about to sleep, and the triggers were removed"),
  goes("Guard", "Serve", "leave", "Busy", "it is about to sleep, and a trigger reports traffic"),
  goes("Guard", "Serve", "leave", "TriggerUnknown", "it is about to sleep, and a trigger cannot be evaluated"),
  goes("Guard", "Serve", "leave", "Cooldown", "it is about to sleep, and cooldownPeriod was raised"),
  goes("Guard", "Serve", "leave", "OutsidePeriod", "it is about to sleep, and enabledPeriod has ended"),
  goes(
    "Guard",
    "Serve",
    "leave",
    "NoResolver",
    "it is about to sleep, and no resolver is ready for all families and ports",
  ),
  goes("Guard", "Serve", "leave", "InFlight", "it is about to sleep, and a request is in flight through the resolver"),
  stays(
    "Guard",
    "ActivityUnknown",
    "it is about to sleep, and a replica of the resolver stopped with its request count",
  ),
  stays(
    "Guard",
    "PathUnproven",
    "it is about to sleep, and no probe request through the Service has reached the resolver",
  ),
  stays("Guard", "Quieting", "it is about to sleep, and quietPeriod without requests has not passed"),
  goes(
    "Guard",
    "Zero",
    "sleep",
    "Quiet",
    "it is about to sleep, a probe request reached the resolver, and no request arrived for quietPeriod",
  ),
  stays("Guard", "RequestHeld", "pods are ready, and a request still waits"),
  stays("Guard", "Settling", "pods are ready, and --settle has not passed"),
  goes("Guard", "Serve", "leave", "PodsReady", "pods are ready, no request waits, and it is not about to sleep"),

  goes(
    "Zero",
    "Wake",
    "wake",
    "RequestSeen",
    "the workload is at 0 replicas, and a request arrived while its last pods terminate",
  ),
  stays("Zero", "LastPodLeaving", "the workload is at 0 replicas, and its last pods terminate"),
  goes("Zero", "Guard", "move", "PodsReady", "pods serve again"),
  goes("Zero", "Wake", "move", "RequestHeld", "a request waits, and the workload has been scaled up for it already"),
  goes("Zero", "Wake", "move", "ScaledUp", "another client scaled the workload up"),
  goes("Zero", "Wake", "wake", "RequestHeld", "a request waits"),
  stays("Zero", "ReplicasUnknown", "the scale cannot be read, and no request waits"),
  goes("Zero", "Wake", "wake", "Unsupported", "a traffic policy of the Service became Local, and triggers are given"),
  goes("Zero", "Wake", "wake", "Busy", "a trigger reports traffic"),
  goes("Zero", "Wake", "wake", "OutsidePeriod", "the time is outside enabledPeriod, and triggers are given"),
  stays("Zero", "InvalidSpec", "the spec is invalid, and no request waits"),
  stays("Zero", "Asleep", "no row above applies"),

  goes("Wake", "Guard", "move", "PodsReady", "a pod serves"),
  stays("Wake", "ReplicasUnknown", "the scale cannot be read"),
  stays("Wake", "PodsStarting", "the workload has replicas, and none is ready"),
  stays(
    "Wake",
    "ActivityUnknown",
    "the workload is at 0 replicas, and a replica of the resolver does not report its requests",
  ),
  goes("Wake", "Wake", "wake", "RequestHeld", "the workload is at 0 replicas again, and a request waits"),
  goes("Wake", "Zero", "move", "ScaledToZero", "the workload is at 0 replicas again, and no request waits"),
];

function stays(from: Transition["from"], reason: Reason, when: string): Transition {
  return { from, to: from === "any" ? "same" : from, action: "stay", reason, when };
}

function goes(from: State, to: State, action: Action, reason: Reason, when: string): Transition {
  return { from, to, action, reason, when };
}
