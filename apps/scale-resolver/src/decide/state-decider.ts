import type { Decider, Verdict } from "@evenkeel/runtime";
import { obstacles } from "./obstacles.ts";
import { REASONS, type Reason } from "./reason.ts";
import type { Pods, ServiceSnapshot } from "./snapshot.ts";
import type { State } from "./state.ts";

/**
 * - `stay`: nothing changes.
 * - `join`, `leave`: the resolver's endpoints are added to the Service, or taken out.
 * - `sleep`, `wake`: the workload is scaled to zero, or up.
 * - `move`: the state changes because the world did.
 */
export const ACTIONS = ["stay", "join", "leave", "sleep", "wake", "move"] as const;
export type Action = (typeof ACTIONS)[number];

export type StateVerdict = Verdict<Action, Reason, State>;

/** What comes of a decision, before it is put into its object's name. */
interface Answer {
  readonly action: Action;
  readonly reason: Reason;
  readonly after: State;
  readonly because: string;
}

/** The next state of one service. What is unknown is never zero: it keeps a service where it is, and never puts one to sleep. */
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
  join: () => "the resolver joins the path",
  leave: () => "the resolver leaves the path",
  sleep: ({ replicas }) => `the workload goes from ${replicas === null ? "?" : count(replicas, "replica")} to 0`,
  wake: ({ policy }) => `the workload is scaled to ${policy.minReplicas}`,
  move: () => "requests are treated accordingly",
};

function answer(snapshot: ServiceSnapshot): Answer {
  const { blocked, stage } = snapshot;
  if (blocked) return stay(snapshot, blocked.reason, `Nothing is done: ${blocked.message}`);
  return RULES[stage.state](snapshot);
}

/** Milliseconds. */
const TOLD_TO_LEAVE = 30_000;

const RULES: Readonly<Record<State, (snapshot: ServiceSnapshot) => Answer>> = {
  Serve: fromServe,
  Guard: fromGuard,
  Zero: fromZero,
  Wake: fromWake,
};

/** Pods that go, or are gone, cannot wait for a trigger: whoever takes them away has decided. */
function fromServe(snapshot: ServiceSnapshot): Answer {
  const { pods, path, drainPrepared } = snapshot;
  if (pods && (pods.ready === 0 || drainPrepared)) {
    if (path.resolvers === 0) return stay(snapshot, "NoResolver", "No resolver is ready to take requests");
    if (pods.ready > 0) {
      return to("Guard", "join", "DrainPrepared", "The last pod of the service is about to be taken away");
    }
    if (pods.leaving === 0) return to("Guard", "join", "NothingServes", "No pod of the service is ready");
    return to(
      "Guard",
      "join",
      "LastPodLeaving",
      `Of the service there is nothing but ${count(pods.leaving, "pod")} on the way out`,
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
  if (!pods) return stay(snapshot, "EndpointsUnknown", "The pods of the service are not known");
  if (pods.ready + pods.leaving === 0) {
    if (replicas === null) return stay(snapshot, "ReplicasUnknown", `Nothing serves, and ${unreadable(snapshot)}`);
    if (replicas === 0) return to("Zero", "move", "ScaledToZero", "Nothing runs and the workload is set to 0 replicas");
    return to(
      "Wake",
      "move",
      "PodsStarting",
      `Nothing serves yet of the ${count(replicas, "replica")} of the workload`,
    );
  }
  if (pods.ready === 0) return stay(snapshot, "LastPodLeaving", "Requests still go to pods that are leaving");
  if (drainPrepared) return stay(snapshot, "DrainPrepared", "The last pod of the service is about to be taken away");
  return stage.purpose === "sleep" ? towardsSleep(snapshot) : towardsServe(snapshot);
}

/** Quiet is necessary and never sufficient: whatever made the service idle before must still say so. */
function towardsSleep(snapshot: ServiceSnapshot): Answer {
  const { activity, stage, path, policy, replicas, dryRun } = snapshot;
  const leave = (reason: Reason, because: string) => to("Serve", "leave", reason, because);
  if (dryRun) return leave("DryRun", "A dry run is asked for, so the service is kept in Serve");
  if (activity && stage.requests === null)
    return leave("ActivityUnknown", "How many requests had come before is not known");
  if (activity && activity.requests !== stage.requests)
    return leave("RequestSeen", "A request came while the resolver listened");
  const [obstacle] = obstacles(snapshot);
  if (obstacle) return leave(obstacle.reason, obstacle.message);
  if (activity && activity.pending + activity.inFlight > 0) {
    const under = count(activity.pending + activity.inFlight, "request");
    return leave("InFlight", `The resolver has ${under} under way`);
  }
  if (replicas === null) return stay(snapshot, "ReplicasUnknown", capital(unreadable(snapshot)));
  if (replicas === 0)
    return stay(snapshot, "LastPodLeaving", "The workload is at 0 replicas and its pods are to leave");
  if (!path.joined || path.provenAt === null) {
    return stay(snapshot, "PathUnproven", "No probe through the Service has reached the resolver yet");
  }
  const quiet = Date.parse(snapshot.at) - Math.max(path.provenAt, stage.since);
  if (quiet < policy.quiet) {
    return stay(snapshot, "Quieting", `It has been quiet for ${seconds(quiet)} of ${seconds(policy.quiet)}`);
  }
  return to("Zero", "sleep", "Quiet", `No request came for ${seconds(quiet)}, and it is idle`);
}

function towardsServe(snapshot: ServiceSnapshot): Answer {
  const { activity, stage, policy } = snapshot;
  if (activity && activity.pending > 0) {
    return stay(snapshot, "RequestHeld", `The resolver still holds ${count(activity.pending, "request")}`);
  }
  if (Date.parse(snapshot.at) - stage.since < policy.settle) {
    return stay(snapshot, "Settling", "Pods are ready, and are given a moment to stay so");
  }
  return to("Serve", "leave", "PodsReady", activity ? "Pods are ready and nobody waits" : "Pods are ready");
}

function fromZero(snapshot: ServiceSnapshot): Answer {
  const { pods, replicas, activity, triggers, stage, specFault } = snapshot;
  if (pods && pods.ready + pods.leaving > 0) {
    if (replicas === 0 && isLeaving(pods, snapshot)) {
      // Whoever asks them now would find them gone the next time, or half way through.
      if (activity && stage.requests !== null && activity.requests !== stage.requests) {
        return to("Wake", "wake", "RequestSeen", "A request came while the last pods leave");
      }
      return stay(snapshot, "LastPodLeaving", "The workload is at 0 replicas and its last pods leave");
    }
    return to("Guard", "move", "PodsReady", "Pods of the service serve");
  }
  if (replicas !== null && replicas > 0) {
    // The path of requests has scaled it up before this turn came.
    if (activity && activity.pending > 0) {
      return to("Wake", "move", "RequestHeld", `The resolver holds ${count(activity.pending, "request")}`);
    }
    return to("Wake", "move", "ScaledUp", `Somebody scaled the workload to ${count(replicas, "replica")}`);
  }
  if (activity && activity.pending > 0) {
    return to("Wake", "wake", "RequestHeld", `The resolver holds ${count(activity.pending, "request")}`);
  }
  if (replicas === null) return stay(snapshot, "ReplicasUnknown", capital(unreadable(snapshot)));
  const busy = triggers.find(({ verdict }) => verdict === "busy");
  if (busy) return to("Wake", "wake", "Busy", `There is traffic: ${busy.message}`);
  if (isPastPeriod(snapshot)) return to("Wake", "wake", "OutsidePeriod", "The time is outside of enabledPeriod");
  if (specFault !== undefined) return stay(snapshot, "InvalidSpec", specFault);
  return stay(snapshot, "Asleep", "The workload is at 0 replicas and nobody asks for it");
}

function fromWake(snapshot: ServiceSnapshot): Answer {
  const { pods, replicas, activity } = snapshot;
  if (pods && pods.ready + pods.leaving > 0) return to("Guard", "move", "PodsReady", "Pods of the service serve");
  if (replicas === null) return stay(snapshot, "ReplicasUnknown", capital(unreadable(snapshot)));
  if (replicas > 0) return stay(snapshot, "PodsStarting", `No pod of ${count(replicas, "replica")} is ready yet`);
  if (!activity) return stay(snapshot, "ActivityUnknown", "The workload is at 0 replicas, and who waits is not known");
  if (activity.pending > 0) {
    const held = count(activity.pending, "request");
    return to("Wake", "wake", "RequestHeld", `The workload is at 0 replicas and the resolver holds ${held}`);
  }
  return to("Zero", "move", "ScaledToZero", "The workload is at 0 replicas and nobody waits");
}

/** Whether the time is known in which it may sleep, and over. Without triggers it is not this program that put it to sleep. */
function isPastPeriod({ triggers, withinPeriod, periodFault, dryRun }: ServiceSnapshot): boolean {
  return triggers.length > 0 && !withinPeriod && periodFault === undefined && !dryRun;
}

/** Pods of a workload at 0 replicas are soon told to leave. Those that stay ready for longer are not its own. */
function isLeaving(pods: Pods, { at, stage }: ServiceSnapshot): boolean {
  return pods.ready === 0 || Date.parse(at) - stage.since < TOLD_TO_LEAVE;
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
