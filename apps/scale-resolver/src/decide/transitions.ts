import type { Reason } from "./reason.ts";
import type { State } from "./state.ts";
import type { Action } from "./state-decider.ts";

/** One way that a service goes from a state, or stays in it. */
export interface Transition {
  /** `any`: from each state, to the same. */
  readonly from: State | "any";
  readonly to: State | "same";
  readonly action: Action;
  readonly reason: Reason;
  /** The rest of a sentence that begins with `when`. */
  readonly when: string;
}

/**
 * Every arrow of the state machine, in the order in which they are looked at; one with several causes stands where the first of them is. Tests hold the decider to it;
 * the documentation shows it.
 */
export const TRANSITIONS: readonly Transition[] = [
  stays("any", "OriginalRuns", "KubeElasti's operator leads"),
  stays("any", "Paused", "the annotation evenkeel.io/paused is set"),
  stays("any", "Unsupported", "the resolver cannot stand in for the Service"),

  stays("Serve", "NoResolver", "no resolver is ready, or none for a family or a port of the Service"),
  goes("Serve", "Guard", "join", "DrainPrepared", "somebody is about to take the last ready pod away"),
  goes("Serve", "Guard", "join", "NothingServes", "no pod is ready, and none is leaving"),
  goes("Serve", "Guard", "join", "LastPodLeaving", "no pod is ready, and some are leaving"),
  stays("Serve", "InvalidSpec", "the spec, or its enabledPeriod, cannot be understood"),
  stays("Serve", "NoTrigger", "no trigger is given"),
  stays("Serve", "Busy", "a trigger says that there is traffic"),
  stays("Serve", "TriggerUnknown", "a trigger says nothing"),
  stays("Serve", "Cooldown", "the object, its last wake or the last traffic is younger than cooldownPeriod"),
  stays("Serve", "OutsidePeriod", "the time is outside of enabledPeriod"),
  stays("Serve", "EndpointsUnknown", "the pods are not known"),
  stays("Serve", "ActivityUnknown", "the requests of a resolver are not known"),
  goes("Serve", "Guard", "join", "Idle", "every trigger says idle, and nothing of the above is so"),

  stays("Guard", "EndpointsUnknown", "the pods are not known"),
  stays("Guard", "ReplicasUnknown", "nothing serves or it is about to sleep, and the scale cannot be read"),
  goes("Guard", "Zero", "move", "ScaledToZero", "nothing serves, and the workload is at 0 replicas"),
  goes("Guard", "Wake", "move", "PodsStarting", "nothing serves, and the workload has replicas"),
  stays("Guard", "LastPodLeaving", "only leaving pods serve, or the workload was just set to 0 replicas"),
  stays("Guard", "DrainPrepared", "somebody is about to take the last ready pod away"),
  goes("Guard", "Serve", "leave", "DryRun", "it is on its way to sleep, and a dry run is asked for"),
  goes(
    "Guard",
    "Serve",
    "leave",
    "ActivityUnknown",
    "it is on its way to sleep, and the requests of a resolver are not known",
  ),
  goes("Guard", "Serve", "leave", "RequestSeen", "it is on its way to sleep, and a request came"),
  goes(
    "Guard",
    "Serve",
    "leave",
    "InvalidSpec",
    "it is on its way to sleep, and the spec cannot be understood any more",
  ),
  goes("Guard", "Serve", "leave", "NoTrigger", "it is on its way to sleep, and no trigger is given any more"),
  goes("Guard", "Serve", "leave", "Busy", "it is on its way to sleep, and a trigger says that there is traffic"),
  goes("Guard", "Serve", "leave", "TriggerUnknown", "it is on its way to sleep, and a trigger says nothing"),
  goes("Guard", "Serve", "leave", "Cooldown", "it is on its way to sleep, and cooldownPeriod has become longer"),
  goes("Guard", "Serve", "leave", "OutsidePeriod", "it is on its way to sleep, and enabledPeriod has ended"),
  goes("Guard", "Serve", "leave", "NoResolver", "it is on its way to sleep, and no resolver is ready for all of it"),
  goes(
    "Guard",
    "Serve",
    "leave",
    "InFlight",
    "it is on its way to sleep, and a request is under way through the resolver",
  ),
  stays("Guard", "PathUnproven", "it is on its way to sleep, and no probe through the Service has come back"),
  stays("Guard", "Quieting", "it is on its way to sleep, and has not been quiet for quietPeriod"),
  goes(
    "Guard",
    "Zero",
    "sleep",
    "Quiet",
    "it is on its way to sleep, the path is proven, and no request came for quietPeriod",
  ),
  stays("Guard", "RequestHeld", "pods are ready, and a request still waits for its turn"),
  stays("Guard", "Settling", "pods are ready, and --settle has not passed"),
  goes("Guard", "Serve", "leave", "PodsReady", "pods are ready, nobody waits, and it is not on its way to sleep"),

  goes(
    "Zero",
    "Wake",
    "wake",
    "RequestSeen",
    "the workload is at 0 replicas, and a request came while its last pods leave",
  ),
  stays("Zero", "LastPodLeaving", "the workload is at 0 replicas, and its last pods leave"),
  goes("Zero", "Guard", "move", "PodsReady", "pods serve again"),
  goes("Zero", "Wake", "move", "RequestHeld", "a request waits, for which the workload was given replicas already"),
  goes("Zero", "Wake", "move", "ScaledUp", "somebody gave the workload replicas"),
  goes("Zero", "Wake", "wake", "RequestHeld", "a request waits"),
  stays("Zero", "ReplicasUnknown", "the scale cannot be read, and nobody waits"),
  goes("Zero", "Wake", "wake", "Busy", "a trigger says that there is traffic"),
  goes("Zero", "Wake", "wake", "OutsidePeriod", "the time is outside of enabledPeriod, and triggers are given"),
  stays("Zero", "InvalidSpec", "the spec cannot be understood, and nobody waits"),
  stays("Zero", "Asleep", "nothing of the above is so"),

  goes("Wake", "Guard", "move", "PodsReady", "a pod serves"),
  stays("Wake", "ReplicasUnknown", "the scale cannot be read"),
  stays("Wake", "PodsStarting", "the workload has replicas, and none is ready"),
  stays("Wake", "ActivityUnknown", "the workload is at 0 replicas, and the requests of a resolver are not known"),
  goes("Wake", "Wake", "wake", "RequestHeld", "the workload is at 0 replicas again, and a request waits"),
  goes("Wake", "Zero", "move", "ScaledToZero", "the workload is at 0 replicas again, and nobody waits"),
];

function stays(from: Transition["from"], reason: Reason, when: string): Transition {
  return { from, to: from === "any" ? "same" : from, action: "stay", reason, when };
}

function goes(from: State, to: State, action: Action, reason: Reason, when: string): Transition {
  return { from, to, action, reason, when };
}
