import type { Decider, Verdict } from "@evenkeel/runtime";
import { obstacles } from "./obstacles.ts";
import { REASONS, type Reason } from "./reason.ts";
import type { Pods, ServiceSnapshot } from "./snapshot.ts";
import type { State } from "./state.ts";

/**
 * - `stay`: nothing changes.
 * - `join`, `leave`: the resolver's endpoints are added to the Service, or removed.
 * - `sleep`, `wake`: the workload is scaled to zero, or up.
 * - `move`: the state changes because the cluster did; nothing is written.
 */
export const ACTIONS = ["stay", "join", "leave", "sleep", "wake", "move"] as const;
export type Action = (typeof ACTIONS)[number];

export type StateVerdict = Verdict<Action, Reason, State>;

/** A decision without the name of its object. */
interface Answer {
  readonly action: Action;
  readonly reason: Reason;
  readonly after: State;
  readonly because: string;
}

/**
 * The next state of one service. What is unknown is never zero: the service keeps its state, and is never scaled to 0.
 */
function decide(snapshot: ServiceSnapshot): StateVerdict {
  const { stage, elastiService, dryRun } = snapshot;
  const { action, reason, after, because } = answer(snapshot);
  const { namespace, name } = elastiService;
  return {
    object: { kind: "ElastiService", namespace, name },
    action,
    reason,
    before: stage.state,
    after,
    message: `${because}; ${WORDS[action](snapshot)}`,
    dryRun: dryRun && stage.state === "Serve",
  };
}

const WORDS: Readonly<Record<Action, (snapshot: ServiceSnapshot) => string>> = {
  stay: ({ stage }) => `the service stays in ${stage.state}`,
  join: () => "requests are redirected to the resolver",
  leave: () => "requests go directly to the pods again",
  sleep: ({ replicas }) => `the workload is scaled from ${replicas === null ? "?" : count(replicas, "replica")} to 0`,
  wake: ({ policy }) => `the workload is scaled to ${policy.minReplicas}`,
  move: ({ stage }) => `the service leaves ${stage.state}`,
};

function answer(snapshot: ServiceSnapshot): Answer {
  const { blocked, stage } = snapshot;
  if (blocked) return stay(snapshot, blocked.reason, `Nothing is changed: ${blocked.message}`);
  return RULES[stage.state](snapshot);
}

/** Milliseconds within which the pods of a workload that was scaled to 0 are no longer ready. */
const TOLD_TO_LEAVE = 30_000;

const RULES: Readonly<Record<State, (snapshot: ServiceSnapshot) => Answer>> = {
  Serve: fromServe,
  Guard: fromGuard,
  Zero: fromZero,
  Wake: fromWake,
};

/** Pods that terminate, or are gone, cannot wait for a trigger: they were scaled down or evicted by another client. */
function fromServe(snapshot: ServiceSnapshot): Answer {
  const { pods, path, drainPrepared, targetFault } = snapshot;
  // Requests would wait for a workload that cannot be woken.
  if (targetFault !== undefined) return stay(snapshot, "TargetNotFound", capital(targetFault));
  if (pods && (pods.ready === 0 || drainPrepared)) {
    if (path.resolvers === 0) return stay(snapshot, "NoResolver", "No replica of the resolver is ready");
    if (pods.ready > 0) {
      return to("Guard", "join", "DrainPrepared", "The last ready pod is about to be evicted");
    }
    if (pods.leaving === 0) return to("Guard", "join", "NothingServes", "No pod is ready");
    return to(
      "Guard",
      "join",
      "LastPodLeaving",
      `No pod is ready, and ${count(pods.leaving, "pod")} ${pods.leaving === 1 ? "is" : "are"} terminating`,
    );
  }
  const [obstacle] = obstacles(snapshot);
  if (obstacle) return stay(snapshot, obstacle.reason, obstacle.message);
  return to(
    "Guard",
    "join",
    "Idle",
    `The service is idle: ${snapshot.triggers.map(({ message }) => message).join(", ")}`,
  );
}

function fromGuard(snapshot: ServiceSnapshot): Answer {
  const { pods, replicas, stage, drainPrepared } = snapshot;
  if (!pods) return stay(snapshot, "EndpointsUnknown", "The endpoints of the Service are not known yet");
  if (pods.ready + pods.leaving === 0) {
    if (replicas === null) return stay(snapshot, "ReplicasUnknown", `No pod serves, and ${unreadable(snapshot)}`);
    if (replicas === 0) return to("Zero", "move", "ScaledToZero", "The workload is at 0 replicas and has no pods");
    return to("Wake", "move", "PodsStarting", `None of ${count(replicas, "replica")} is ready`);
  }
  if (pods.ready === 0) return stay(snapshot, "LastPodLeaving", "Only terminating pods serve");
  // Before every reason to leave: without the resolver, the Service would soon have no endpoint.
  if (replicas === 0 && isTerminating(pods, snapshot))
    return stay(snapshot, "LastPodLeaving", "The workload is at 0 replicas and its pods are about to terminate");
  if (drainPrepared) return stay(snapshot, "DrainPrepared", "The last ready pod is about to be evicted");
  return stage.purpose === "sleep" ? towardsSleep(snapshot) : towardsServe(snapshot);
}

/** A quiet period is required but not sufficient: the triggers must still report idle. */
function towardsSleep(snapshot: ServiceSnapshot): Answer {
  const { activity, stage, path, policy, replicas, dryRun } = snapshot;
  const leave = (reason: Reason, because: string) => to("Serve", "leave", reason, because);
  if (dryRun) return leave("DryRun", "In a dry run requests are not redirected");
  if (activity && stage.requests === null)
    return leave("ActivityUnknown", "The number of earlier requests is not known");
  const before = stage.requests ?? 0;
  if (activity && (activity.requests > before || hasRequestSince(snapshot)))
    return leave("RequestSeen", "A request arrived");
  const [obstacle] = obstacles(snapshot);
  if (obstacle) return leave(obstacle.reason, obstacle.message);
  if (activity && activity.pending + activity.inFlight > 0) {
    const under = count(activity.pending + activity.inFlight, "request");
    return leave("InFlight", `The resolver has ${under} in flight`);
  }
  if (activity && activity.requests < before)
    return stay(snapshot, "ActivityUnknown", "A replica of the resolver stopped, and its request count is lost");
  if (replicas === null) return stay(snapshot, "ReplicasUnknown", capital(unreadable(snapshot)));
  if (replicas === 0) return leave("PodsReady", "The workload is at 0 replicas, and pods of another workload serve");
  if (!path.joined || path.provenAt === null) {
    return stay(snapshot, "PathUnproven", "No probe request through the Service has reached the resolver yet");
  }
  const quiet = Date.parse(snapshot.at) - Math.max(path.provenAt, stage.since);
  if (quiet < policy.quiet) {
    return stay(snapshot, "Quieting", `No request for ${seconds(quiet)} of ${seconds(policy.quiet)}`);
  }
  return to("Zero", "sleep", "Quiet", `No request for ${seconds(quiet)}, and all triggers report idle`);
}

function towardsServe(snapshot: ServiceSnapshot): Answer {
  const { activity, stage, policy } = snapshot;
  if (activity && activity.pending > 0) {
    return stay(snapshot, "RequestHeld", `The resolver still holds ${count(activity.pending, "request")}`);
  }
  if (Date.parse(snapshot.at) - stage.since < policy.settle) {
    return stay(snapshot, "Settling", "Pods are ready; waiting for them to stay ready");
  }
  return to("Serve", "leave", "PodsReady", activity ? "Pods are ready and no request waits" : "Pods are ready");
}

function fromZero(snapshot: ServiceSnapshot): Answer {
  const { pods, replicas, activity, triggers, specFault } = snapshot;
  if (pods && pods.ready + pods.leaving > 0) {
    if (replicas === 0 && isTerminating(pods, snapshot)) {
      // These pods would terminate before the next request, or during this one.
      if (activity && (activity.pending + activity.inFlight > 0 || hasRequestSince(snapshot))) {
        return to("Wake", "wake", "RequestSeen", "A request arrived while the last pods terminate");
      }
      return stay(snapshot, "LastPodLeaving", "The workload is at 0 replicas and its last pods terminate");
    }
    return to("Guard", "move", "PodsReady", "Pods serve");
  }
  if (replicas !== null && replicas > 0) {
    // The gateway has scaled it up before this reconcile.
    if (activity && activity.pending > 0) {
      return to("Wake", "move", "RequestHeld", `The resolver holds ${count(activity.pending, "request")}`);
    }
    return to("Wake", "move", "ScaledUp", `Another client scaled the workload to ${count(replicas, "replica")}`);
  }
  if (activity && activity.pending > 0) {
    return to("Wake", "wake", "RequestHeld", `The resolver holds ${count(activity.pending, "request")}`);
  }
  if (replicas === null) return stay(snapshot, "ReplicasUnknown", capital(unreadable(snapshot)));
  if (snapshot.localOnly !== undefined && triggers.length > 0) {
    return to("Wake", "wake", "Unsupported", capital(snapshot.localOnly));
  }
  const busy = triggers.find(({ verdict }) => verdict === "busy");
  if (busy) return to("Wake", "wake", "Busy", `A trigger reports traffic: ${busy.message}`);
  if (isPastPeriod(snapshot)) return to("Wake", "wake", "OutsidePeriod", "The time is outside enabledPeriod");
  if (specFault !== undefined) return stay(snapshot, "InvalidSpec", specFault);
  return stay(snapshot, "Asleep", "The workload is at 0 replicas and no request waits");
}

function fromWake(snapshot: ServiceSnapshot): Answer {
  const { pods, replicas, activity } = snapshot;
  if (pods && pods.ready + pods.leaving > 0) return to("Guard", "move", "PodsReady", "Pods serve");
  if (replicas === null) return stay(snapshot, "ReplicasUnknown", capital(unreadable(snapshot)));
  if (replicas > 0) return stay(snapshot, "PodsStarting", `None of ${count(replicas, "replica")} is ready yet`);
  if (!activity)
    return stay(
      snapshot,
      "ActivityUnknown",
      "The workload is at 0 replicas, and the number of waiting requests is not known",
    );
  if (activity.pending > 0) {
    const held = count(activity.pending, "request");
    return to("Wake", "wake", "RequestHeld", `The workload is at 0 replicas and the resolver holds ${held}`);
  }
  return to("Zero", "move", "ScaledToZero", "The workload is at 0 replicas and no request waits");
}

/**
 * Whether a running replica of the resolver got a request in this state. The sum of their counts does not tell, because
 * a replica that stops takes its own with it.
 */
function hasRequestSince({ activity, stage }: ServiceSnapshot): boolean {
  return (activity?.lastRequestAt ?? -Infinity) > stage.since;
}

/** Whether the enabled period is known and over. Without triggers this program did not scale the workload to 0. */
function isPastPeriod({ triggers, withinPeriod, periodFault, dryRun }: ServiceSnapshot): boolean {
  return triggers.length > 0 && !withinPeriod && periodFault === undefined && !dryRun;
}

/** Pods of a workload at 0 replicas terminate soon. Pods that stay ready for longer belong to another workload. */
function isTerminating(pods: Pods, { at, stage, replicasSeenAt }: ServiceSnapshot): boolean {
  return pods.ready === 0 || Date.parse(at) - Math.max(stage.since, replicasSeenAt ?? 0) < TOLD_TO_LEAVE;
}

function to(after: State, action: Action, reason: Reason, because: string): Answer {
  return { action, reason, after, because };
}

function stay({ stage }: ServiceSnapshot, reason: Reason, because: string): Answer {
  return { action: "stay", reason, after: stage.state, because };
}

function unreadable({ scaleFault }: ServiceSnapshot): string {
  return `the workload's scale cannot be read${scaleFault === undefined ? "" : `: ${scaleFault}`}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 100) / 10} s`;
}

export const stateDecider: Decider<ServiceSnapshot, Action, Reason, State> = {
  actions: ACTIONS,
  reasons: REASONS,
  decide,
};
