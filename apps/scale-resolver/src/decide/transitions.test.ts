import { describe, expect, test } from "@jest/globals";
import { BUSY, type Changes, IDLE, quietService, secondsAgo, SILENT } from "../testing/quiet-service.ts";
import { type Transition, TRANSITIONS } from "./transitions.ts";
import { REASONS } from "./reason.ts";
import { type State, STATES } from "./state.ts";
import { ACTIONS, stateDecider } from "./state-decider.ts";

type World = readonly [sentence: string, world: Changes];

const blocked = (reason: "Paused" | "OriginalRuns" | "Unsupported") => ({
  blocked: { reason, message: "of a reason" },
});
const MISSING = "Deployment shop/chekout not found";
const LOCAL = "internalTrafficPolicy of the Service is Local";
const FAULT = "The last good spec is in force, since this one cannot be understood: spec.dial: Invalid option";
const LEAVING = { ready: 0, leaving: 1 };
const gone = { ready: 0, leaving: 0, starting: 0 };
/** In Guard before sleep, without obstacles. */
const falling = (changes: Changes = {}): Changes => ({
  ...changes,
  stage: { state: "Guard", purpose: "sleep", ...changes.stage },
});
/** In Guard for another reason, with pods. */
const guarded = (changes: Changes = {}): Changes => ({ ...changes, stage: { state: "Guard", ...changes.stage } });
const scaledToZero = { replicas: 0, replicasSeenAt: secondsAgo(29) };
const asleep = (changes: Changes = {}): Changes => ({
  replicas: 0,
  pods: gone,
  ...changes,
  stage: { state: "Zero", ...changes.stage },
});
const waking = (changes: Changes = {}): Changes => ({
  replicas: 1,
  pods: { ...gone, starting: 1 },
  ...changes,
  stage: { state: "Wake", ...changes.stage },
});

/** For each arrow, `from action reason`, the worlds in which it is taken. */
const WORLDS: Readonly<Record<string, readonly World[]>> = {
  "any stay OriginalRuns": [["original", blocked("OriginalRuns")]],
  "any stay Paused": [["pause", blocked("Paused")]],
  "any stay Unsupported": [["headless", blocked("Unsupported")]],

  "Serve stay TargetNotFound": [
    ["the name of the workload is wrong", { targetFault: MISSING }],
    ["requests would wait for a missing workload", { targetFault: MISSING, pods: gone, triggers: [] }],
    ["no resolver is ready either", { targetFault: MISSING, path: { resolvers: 0 } }],
  ],
  "Serve stay NoResolver": [
    ["a service with pods stays, though it is idle", { path: { resolvers: 0 } }],
    ["pods terminate, and no resolver is ready", { path: { resolvers: 0 }, pods: { ready: 0, leaving: 1 } }],
    ["no pod is left, and no resolver is ready", { path: { resolvers: 0 }, pods: gone, triggers: [] }],
    ["a drain waits for a resolver", { path: { resolvers: 0 }, drainPrepared: true }],
    ["no resolver has an address of one family", { path: { unreached: ["IPv6"] } }],
    ["a port of its own could not be opened", { path: { unbound: 1 } }],
  ],
  "Serve join DrainPrepared": [
    ["the last pod is to be drained", { drainPrepared: true, pods: { ready: 1 } }],
    ["a drain is no question of traffic", { drainPrepared: true, triggers: [BUSY] }],
    ["a service that only wakes is guarded too", { drainPrepared: true, triggers: [] }],
  ],
  "Serve join NothingServes": [
    ["another client scaled to zero", { pods: gone, replicas: 0 }],
    ["a part of its requests is better than none", { pods: gone, path: { unreached: ["IPv6"], unbound: 1 } }],
    ["the pods start", { pods: { ...gone, starting: 2 }, triggers: [SILENT] }],
    ["failing pods do not count", { pods: { ...gone, starting: 2 }, triggers: [BUSY], idleSince: secondsAgo(3) }],
  ],
  "Serve join LastPodLeaving": [
    ["the last pod got its signal", { pods: { ready: 0, leaving: 1 }, triggers: [] }],
    ["triggers do not matter then", { pods: { ready: 0, leaving: 2 }, triggers: [BUSY] }],
    ["unknown activity does not matter then", { pods: { ready: 0, leaving: 2 }, activity: null }],
  ],
  "Serve stay InvalidSpec": [
    ["a field is invalid", { specFault: FAULT }],
    ["whatever triggers say", { specFault: FAULT, triggers: [BUSY] }],
    ["and whether they are known or not", { specFault: FAULT, triggers: [] }],
    ["its period cannot be read", { withinPeriod: false, periodFault: "enabledPeriod.schedule cannot be read" }],
  ],
  "Serve stay NoTrigger": [["nothing says that it is idle", { triggers: [] }]],
  "Serve stay Busy": [
    ["there is traffic", { triggers: [BUSY] }],
    ["one of two sees traffic", { triggers: [IDLE, BUSY] }],
    ["the other is unknown", { triggers: [SILENT, BUSY] }],
  ],
  "Serve stay TriggerUnknown": [
    ["the metric server is away", { triggers: [SILENT] }],
    ["one of two is unknown", { triggers: [IDLE, SILENT] }],
  ],
  "Serve stay Cooldown": [
    ["it was just woken", { idleSince: secondsAgo(10) }],
    ["the moment before the end", { idleSince: secondsAgo(899.999) }],
    ["a wake in the future, of another clock", { idleSince: secondsAgo(-60) }],
    ["the object was just created", { createdAt: secondsAgo(10) }],
    ["it was created long ago, and had traffic recently", { createdAt: secondsAgo(9000), idleSince: secondsAgo(30) }],
  ],
  "Serve stay OutsidePeriod": [["it is not the time", { withinPeriod: false }]],
  "Serve stay EndpointsUnknown": [["no pods are known", { pods: null }]],
  "Serve stay ActivityUnknown": [["a resolver is silent", { activity: null }]],
  "Serve join Idle": [
    ["nothing keeps it awake", {}],
    ["both triggers say so", { triggers: [IDLE, IDLE] }],
    ["the cooldown has just ended", { createdAt: secondsAgo(900), idleSince: secondsAgo(900) }],
    ["its scale is not read before that is of use", { replicas: null }],
  ],

  "Guard stay EndpointsUnknown": [
    ["on the way to sleep", falling({ pods: null })],
    ["and otherwise", guarded({ pods: null })],
  ],
  "Guard stay ReplicasUnknown": [
    ["no pod serves, and the scale is unknown", guarded({ pods: gone, replicas: null })],
    ["nothing can be set to zero that is not known", falling({ replicas: null })],
  ],
  "Guard move ScaledToZero": [
    ["the last pod is removed", guarded({ pods: gone, replicas: 0 })],
    ["the last pod is removed before sleep", falling({ pods: gone, replicas: 0 })],
    ["starting pods do not count", guarded({ pods: { ...gone, starting: 1 }, replicas: 0 })],
  ],
  "Guard move PodsStarting": [
    ["the last pod is removed and another starts", guarded({ pods: { ...gone, starting: 1 }, replicas: 1 })],
    ["no pod exists yet", guarded({ pods: gone, replicas: 2 })],
  ],
  "Guard stay LastPodLeaving": [
    ["requests pass to what still serves", guarded({ pods: { ready: 0, leaving: 1 } })],
    ["whatever is known of the scale", guarded({ pods: { ready: 0, leaving: 1 }, replicas: null })],
    ["on the way to sleep as well", falling({ pods: { ready: 0, leaving: 1 } })],
    ["another client scaled it to zero first", falling({ ...scaledToZero })],
    [
      "its pods answer a request until they end",
      falling({ ...scaledToZero, activity: { requests: 41, inFlight: 1, lastRequestAt: secondsAgo(1) } }),
    ],
    ["whatever triggers say", falling({ ...scaledToZero, triggers: [BUSY] })],
    ["whatever is not known", falling({ ...scaledToZero, activity: null, stage: { requests: null } })],
    ["in a dry run too", falling({ ...scaledToZero, dryRun: true })],
    ["another client scaled it to zero right after a wake", guarded({ ...scaledToZero })],
    ["a request still waits", guarded({ ...scaledToZero, activity: { pending: 1 } })],
  ],
  "Guard stay DrainPrepared": [
    ["until the drain is over", guarded({ drainPrepared: true })],
    ["a request does not matter then", guarded({ drainPrepared: true, activity: { pending: 1 } })],
    ["a service on its way to sleep is kept for the drain", falling({ drainPrepared: true })],
    ["although a request arrived", falling({ drainPrepared: true, activity: { requests: 41 } })],
  ],
  "Guard leave DryRun": [["somebody only wants to see", falling({ dryRun: true })]],
  "Guard leave ActivityUnknown": [
    ["a resolver fell silent", falling({ activity: null })],
    ["the earlier request count is unknown", falling({ stage: { requests: null } })],
  ],
  "Guard leave RequestSeen": [
    ["a request arrived", falling({ activity: { requests: 41 } })],
    ["it is still there", falling({ activity: { requests: 41, inFlight: 1 } })],
    ["a request arrived, and a resolver stopped", falling({ activity: { requests: 3, lastRequestAt: secondsAgo(1) } })],
    ["as many arrived as another had counted", falling({ activity: { lastRequestAt: secondsAgo(1) } })],
  ],
  "Guard leave TargetNotFound": [["somebody deleted it", falling({ targetFault: MISSING })]],
  "Guard leave Unsupported": [["somebody keeps its traffic to each node", falling({ localOnly: LOCAL })]],
  "Guard leave InvalidSpec": [["a field is invalid", falling({ specFault: FAULT })]],
  "Guard leave NoTrigger": [["the trigger was taken away", falling({ triggers: [] })]],
  "Guard leave Busy": [["pinned connections have traffic", falling({ triggers: [BUSY] })]],
  "Guard leave TriggerUnknown": [["the metric server went away", falling({ triggers: [SILENT] })]],
  "Guard leave Cooldown": [["the cooldown was made longer", falling({ idleSince: secondsAgo(800) })]],
  "Guard leave OutsidePeriod": [["the time is over", falling({ withinPeriod: false })]],
  "Guard leave NoResolver": [
    ["the resolvers went away", falling({ path: { resolvers: 0 } })],
    ["the only one with IPv6 went away", falling({ path: { unreached: ["IPv6"] } })],
    ["another program uses a port", falling({ path: { unbound: 2 } })],
  ],
  "Guard leave InFlight": [
    ["an answer is still on its way", falling({ activity: { inFlight: 1 } })],
    ["a request waits", falling({ activity: { pending: 2 } })],
  ],
  "Guard stay ActivityUnknown": [
    ["a resolver that had counted requests stopped", falling({ activity: { requests: 3 } })],
    ["a resolver began to count anew", falling({ activity: { requests: 0, lastRequestAt: null } })],
  ],
  "Guard stay PathUnproven": [
    ["no probe succeeded", falling({ path: { provenAt: null } })],
    ["another client removed the resolver's endpoints", falling({ path: { joined: false } })],
  ],
  "Guard stay Quieting": [
    ["it was proven of late", falling({ path: { provenAt: secondsAgo(14.999) } })],
    ["it began of late", falling({ stage: { since: secondsAgo(3) } })],
    ["the clock was set back", falling({ stage: { since: secondsAgo(-3) } })],
  ],
  "Guard sleep Quiet": [
    ["no request arrived", falling()],
    ["for as long as is asked", falling({ path: { provenAt: secondsAgo(15) } })],
  ],
  "Guard stay RequestHeld": [["who waits comes first", guarded({ activity: { pending: 3 } })]],
  "Guard stay Settling": [["pods may go again", guarded({ stage: { since: secondsAgo(1) } })]],
  "Guard leave PodsReady": [
    ["pods are there to stay", guarded()],
    ["as far as it is known", guarded({ activity: null })],
    ["answers on their way do not keep it", guarded({ activity: { inFlight: 5 } })],
    ["an idle service is not put to sleep from here", guarded({ stage: { purpose: "safety" } })],
    ["what triggers say does not matter", guarded({ triggers: [SILENT] })],
    ["pods of another workload serve", guarded({ replicas: 0, replicasSeenAt: secondsAgo(30) })],
    ["they serve while it is about to sleep", falling({ replicas: 0, replicasSeenAt: secondsAgo(30) })],
  ],

  "Zero wake RequestSeen": [
    [
      "its pods were not told yet",
      asleep({ pods: { ready: 2 }, stage: { since: secondsAgo(2) }, activity: { lastRequestAt: secondsAgo(1) } }),
    ],
    ["a pod that leaves answered it", asleep({ pods: LEAVING, activity: { lastRequestAt: secondsAgo(1) } })],
    ["a pod that leaves is about to", asleep({ pods: LEAVING, activity: { inFlight: 1 } })],
    [
      "how many came before is not known",
      asleep({ pods: LEAVING, stage: { requests: null }, activity: { lastRequestAt: secondsAgo(1) } }),
    ],
  ],
  "Zero stay LastPodLeaving": [
    ["how many requests came before is not known", asleep({ pods: LEAVING, stage: { requests: null } })],
    ["a resolver that had counted requests stopped", asleep({ pods: LEAVING, activity: { requests: 3 } })],
    ["a report of a resolver that stops came late", asleep({ pods: LEAVING, activity: { requests: 43 } })],
    ["its pods were not told yet", asleep({ pods: { ready: 2 }, stage: { since: secondsAgo(1) } })],
    ["they take their time", asleep({ pods: LEAVING })],
  ],
  "Zero move PodsReady": [
    ["another client woke it", asleep({ pods: { ready: 1 }, replicas: 1 })],
    ["whether its scale is known or not", asleep({ pods: { ready: 1 }, replicas: null })],
    ["the pods are another workload's", asleep({ pods: { ready: 1 }, stage: { since: secondsAgo(31) } })],
  ],
  "Zero move RequestHeld": [
    ["its own request was faster than the turn", asleep({ replicas: 1, activity: { pending: 1 } })],
  ],
  "Zero move ScaledUp": [
    ["another client scaled it up", asleep({ replicas: 3 })],
    ["and its pods are not known", asleep({ replicas: 1, pods: null })],
  ],
  "Zero wake RequestHeld": [
    ["a request waits", asleep({ activity: { pending: 1 } })],
    ["the scale is unknown, and a request waits", asleep({ activity: { pending: 1 }, replicas: null })],
    ["at any time", asleep({ activity: { pending: 1 }, withinPeriod: false, idleSince: secondsAgo(1) })],
    ["in a dry run too", asleep({ activity: { pending: 1 }, dryRun: true })],
    ["although the spec is invalid", asleep({ activity: { pending: 1 }, specFault: FAULT })],
  ],
  "Zero stay ReplicasUnknown": [["nobody knows", asleep({ replicas: null })]],
  "Zero wake Unsupported": [["somebody keeps its traffic to each node", asleep({ localOnly: LOCAL })]],
  "Zero wake Busy": [["a trigger sees what the resolver does not", asleep({ triggers: [IDLE, BUSY] })]],
  "Zero wake OutsidePeriod": [
    ["its time is over", asleep({ withinPeriod: false })],
    [
      "though nobody asks, and nothing can be told",
      asleep({ withinPeriod: false, triggers: [SILENT], activity: null }),
    ],
    ["the last good spec says so", asleep({ withinPeriod: false, specFault: FAULT })],
  ],
  "Zero stay InvalidSpec": [["no request waits", asleep({ specFault: FAULT })]],
  "Zero stay Asleep": [
    ["no request waits", asleep()],
    ["an unknown trigger wakes nothing", asleep({ triggers: [SILENT] })],
    ["a silent resolver wakes nothing", asleep({ activity: null })],
    ["its time cannot be told", asleep({ withinPeriod: false, periodFault: "enabledPeriod.schedule cannot be read" })],
    ["the period is over, in a dry run", asleep({ withinPeriod: false, dryRun: true })],
    ["the traffic policy is local, and another client scaled it to zero", asleep({ localOnly: LOCAL, triggers: [] })],
    ["the period is over, and another client scaled it to zero", asleep({ withinPeriod: false, triggers: [] })],
  ],

  "Wake move PodsReady": [
    ["it is there", waking({ pods: { ready: 1 } })],
    ["one that leaves serves as well", waking({ pods: { ready: 0, leaving: 1 } })],
  ],
  "Wake stay ReplicasUnknown": [["nobody knows", waking({ replicas: null })]],
  "Wake stay PodsStarting": [
    ["it takes its time", waking()],
    ["also when no request waits any longer", waking({ activity: { pending: 0 } })],
    ["while the pods are not known", waking({ pods: null })],
  ],
  "Wake stay ActivityUnknown": [["somebody may wait", waking({ replicas: 0, activity: null })]],
  "Wake wake RequestHeld": [["somebody scaled it down", waking({ replicas: 0, activity: { pending: 1 } })]],
  "Wake move ScaledToZero": [["nobody asks any more", waking({ replicas: 0 })]],
};

const nameOf = ({ from, action, reason }: Transition) => `${from} ${action} ${reason}`;
const named = new Map(TRANSITIONS.map((arrow) => [nameOf(arrow), arrow]));

test("no two arrows are the same, and each has its worlds", () => {
  expect(named.size).toBe(TRANSITIONS.length);
  expect(Object.keys(WORLDS)).toEqual(TRANSITIONS.map(nameOf));
});

test("every reason, action and state is somewhere on an arrow", () => {
  expect(new Set(TRANSITIONS.map(({ reason }) => reason))).toEqual(new Set(REASONS));
  expect(new Set(TRANSITIONS.map(({ action }) => action))).toEqual(new Set(ACTIONS));
  expect(new Set(TRANSITIONS.flatMap(({ from, to }) => [from, to]))).toEqual(new Set([...STATES, "any", "same"]));
});

test("the service of the transitions serves, and is asked for what it is not", () => {
  expect(stateDecider.decide(quietService())).toEqual({
    object: { kind: "ElastiService", namespace: "shop", name: "checkout" },
    action: "join",
    reason: "Idle",
    before: "Serve",
    after: "Guard",
    message: expect.stringContaining("0 is below 0.5"),
    dryRun: false,
  });
});

describe.each(TRANSITIONS.map((arrow) => [nameOf(arrow), arrow] as const))(
  "%s",
  (name, { from, to, action, reason }) => {
    test.each(WORLDS[name] ?? [])("%s", (_sentence, world) => {
      for (const state of from === "any" ? STATES : [from]) {
        const changes: Changes = from === "any" ? { ...world, stage: { state } } : world;
        const verdict = stateDecider.decide(quietService(changes));
        const after: State = to === "same" ? state : to;
        expect(verdict).toMatchObject({ action, reason, before: state, after });
        expect(verdict.message).toMatch(/^[A-Z].+; .+[^.]$/s);
        expect(verdict.message).not.toMatch(/NaN|undefined|null|Infinity|\[object|\?/);
      }
    });
  },
);
