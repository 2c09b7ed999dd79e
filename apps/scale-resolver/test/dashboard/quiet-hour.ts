import { type resolverV1, resolverV1 as v1 } from "@evenkeel/rpc";
import type { ScriptedResolver } from "./scripted-resolver.ts";

const { STATE_SERVE, STATE_GUARD, STATE_ZERO, STATE_WAKE } = v1.State;
type State = resolverV1.State;

interface Step {
  /** Seconds before the end. */
  readonly ago: number;
  readonly state: State;
  readonly action: string;
  readonly reason: string;
  readonly message: string;
}

const idle = "The service is idle: 0 is below 0.5; the resolver joins the path";
const quiet = "No request came for 15 s, and it is idle; the workload goes from 2 replicas to 0";
const held = (many: number) =>
  `The resolver holds ${many} request${many === 1 ? "" : "s"}; the workload is scaled to 1`;
const serves = "Pods of the service serve; requests are treated accordingly";
const ready = "Pods are ready and nobody waits; the resolver leaves the path";
const seen = "A request came while the resolver listened; the resolver leaves the path";

/** An hour in which the service slept and was woken three times, and once a request interrupted an attempt to sleep. */
const STEPS: readonly Step[] = [
  { ago: 5400, state: STATE_SERVE, action: "stay", reason: "", message: "" },
  { ago: 3400, state: STATE_GUARD, action: "join", reason: "Idle", message: idle },
  { ago: 3384, state: STATE_ZERO, action: "sleep", reason: "Quiet", message: quiet },
  { ago: 2500, state: STATE_WAKE, action: "wake", reason: "RequestHeld", message: held(1) },
  { ago: 2495, state: STATE_GUARD, action: "move", reason: "PodsReady", message: serves },
  { ago: 2490, state: STATE_SERVE, action: "leave", reason: "PodsReady", message: ready },
  { ago: 1590, state: STATE_GUARD, action: "join", reason: "Idle", message: idle },
  { ago: 1581, state: STATE_SERVE, action: "leave", reason: "RequestSeen", message: seen },
  { ago: 1300, state: STATE_GUARD, action: "join", reason: "Idle", message: idle },
  { ago: 1284, state: STATE_ZERO, action: "sleep", reason: "Quiet", message: quiet },
  { ago: 640, state: STATE_WAKE, action: "wake", reason: "RequestHeld", message: held(212) },
  { ago: 631, state: STATE_GUARD, action: "move", reason: "PodsReady", message: serves },
  { ago: 625, state: STATE_SERVE, action: "leave", reason: "PodsReady", message: ready },
  { ago: 300, state: STATE_GUARD, action: "join", reason: "Idle", message: idle },
  { ago: 284, state: STATE_ZERO, action: "sleep", reason: "Quiet", message: quiet },
  { ago: 12, state: STATE_WAKE, action: "wake", reason: "RequestHeld", message: held(38) },
];

const WORDS = ["", "Serve", "Guard", "Zero", "Wake"];

/** Fills `resolver` with an hour that ended at `end`: a service that wakes just now, and five others. */
export function playQuietHour(resolver: ScriptedResolver, end: Date, key = "shop/checkout"): void {
  const at = (ago: number) => new Date(end.getTime() - ago * 1000);
  STEPS.forEach(({ ago, state, action, reason, message }, index) => {
    const before = STEPS[index - 1];
    if (!before) return;
    const [from, to] = [WORDS[before.state], WORDS[state]];
    resolver.decide(key, at(ago), { action, reason, message, before: from, after: to });
  });
  resolver.histories.set(key, {
    changes: STEPS.map(({ ago, state, reason, message }) => ({ at: at(ago).toISOString(), state, reason, message })),
    wakes: [
      { startedAt: at(2500).toISOString(), ...phases(9, 4300, 61), held: 1n },
      { startedAt: at(640).toISOString(), ...phases(14, 8100, 240), held: 212n },
      { startedAt: at(12).toISOString(), scale: { seconds: 0n, nanos: 8_000_000 }, held: 38n },
    ],
    queue: queueOf(end),
  });
  resolver.previews.set(key, {
    state: STATE_WAKE,
    next: STATE_WAKE,
    reason: "PodsStarting",
    message: "No pod of 1 replica is ready yet; the service stays in Wake",
    waits: [{ reason: "PodsStarting", message: "No pod of 1 replica is ready yet; the service stays in Wake" }],
  });
  resolver.set(key, {
    state: STATE_WAKE,
    since: at(12).toISOString(),
    replicas: 1,
    pending: 38n,
    inFlight: 0n,
    lastRequestAt: at(0).toISOString(),
    lastWake: { seconds: 8n, nanos: 354_000_000 },
    reason: "PodsStarting",
    message: "No pod of 1 replica is ready yet; the service stays in Wake",
    decidedAt: at(1).toISOString(),
    pods: { ready: 0, leaving: 0, starting: 1 },
    conditions: [
      condition("Ready", "True", "PodsStarting", "No pod of 1 replica is ready yet", at(5400)),
      condition("InPath", "True", "RequestHeld", "Requests pass the resolver", at(300)),
      condition("Paused", "False", "Following", "", at(86_400)),
    ],
  });
  others(resolver, at);
}

function others(resolver: ScriptedResolver, at: (ago: number) => Date): void {
  const since = (ago: number) => at(ago).toISOString();
  resolver.set("media/images", {
    state: STATE_SERVE,
    since: since(7300),
    pending: 0n,
    pods: { ready: 3 },
    reason: "Busy",
    message: "The trigger prometheus sum(rate(requests[1m])) says that there is traffic: 7 is not below 0.5",
  });
  resolver.histories.set("media/images", { changes: [{ at: since(7300), state: STATE_SERVE }], wakes: [], queue: [] });
  resolver.previews.set("media/images", {
    state: STATE_SERVE,
    next: STATE_SERVE,
    reason: "Busy",
    message: "The trigger says that there is traffic; the service stays in Serve",
    obstacles: [
      {
        reason: "Busy",
        message: "The trigger prometheus sum(rate(requests[1m])) says that there is traffic: 7 is not below 0.5",
      },
      { reason: "Cooldown", message: "The cooldown of 900 s counts from 2026-11-16T11:53:32Z; 512 s are left" },
    ],
  });
  resolver.set("media/video", {
    state: STATE_ZERO,
    since: since(33_000),
    replicas: 0,
    pending: 0n,
    pods: { ready: 0 },
    reason: "Asleep",
    message: "The workload is at 0 replicas and nobody asks for it; the service stays in Zero",
  });
  resolver.histories.set("media/video", { changes: [{ at: since(33_000), state: STATE_ZERO }] });
  resolver.previews.set("media/video", {
    state: STATE_ZERO,
    next: STATE_ZERO,
    reason: "Asleep",
    message: "The workload is at 0 replicas and nobody asks for it; the service stays in Zero",
  });
  resolver.set("shop/fraud-check", { activityUnknown: true, reason: "", message: "" });
  resolver.set("shop/recommendations", {
    state: STATE_GUARD,
    since: since(9),
    pending: 0n,
    inFlight: 0n,
    replicas: 2,
    pods: { ready: 2 },
    reason: "Quieting",
    message: "It has been quiet for 6 s of 15 s; the service stays in Guard",
  });
  resolver.set("shop/search", {
    state: STATE_SERVE,
    since: since(500),
    pending: 0n,
    pods: { ready: 1 },
    paused: true,
    reason: "Paused",
    message: "Nothing is done: the annotation evenkeel.io/paused is set; the service stays in Serve",
  });
}

/** Nobody waits but while it wakes; for two minutes a resolver did not answer. */
function queueOf(end: Date): resolverV1.DeepPartial<resolverV1.QueuePoint>[] {
  const bursts = [
    { from: 2500, to: 2495, most: 1 },
    { from: 640, to: 631, most: 212 },
    { from: 12, to: 0, most: 38 },
  ];
  const points: resolverV1.DeepPartial<resolverV1.QueuePoint>[] = [];
  const add = (ago: number, pending: number | null, inFlight: number | null, replicas: number) =>
    points.push({
      at: new Date(end.getTime() - ago * 1000).toISOString(),
      ...(pending !== null && { pending: BigInt(pending) }),
      ...(inFlight !== null && { inFlight: BigInt(inFlight) }),
      replicas,
    });
  add(3600, 0, 0, 2);
  add(2000, 0, 0, 2);
  for (const { from, to, most } of bursts) {
    if (from === 640) {
      add(1201, 0, 0, 0);
      add(1200, null, null, 0);
      add(1080, null, null, 0);
      add(1079, 0, 0, 0);
    }
    add(from + 1, 0, 0, 0);
    for (let ago = from; ago > to; ago--) add(ago, Math.ceil((most * (from - ago + 1)) / (from - to)), 0, 1);
    if (to === 0) continue;
    add(to, Math.ceil(most / 3), Math.floor(most / 2), 1);
    add(to - 1, 0, Math.floor(most / 6), 1);
    add(to - 2, 0, 0, 1);
  }
  return points.toSorted((one, other) => (one.at ?? "").localeCompare(other.at ?? ""));
}

function phases(scale: number, start: number, connect: number) {
  const duration = (length: number) => ({
    seconds: BigInt(Math.floor(length / 1000)),
    nanos: (length % 1000) * 1_000_000,
  });
  return { scale: duration(scale), start: duration(start), connect: duration(connect) };
}

function condition(type: string, status: string, reason: string, message: string, since: Date) {
  return { type, status, reason, message, since: since.toISOString() };
}
