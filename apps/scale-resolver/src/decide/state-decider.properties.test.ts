import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { BUSY, IDLE, NOON, quietService, secondsAgo, SILENT } from "../testing/quiet-service.ts";
import { TRANSITIONS } from "./transitions.ts";
import { obstacles } from "./obstacles.ts";
import type { ServiceSnapshot } from "./snapshot.ts";
import { STATES } from "./state.ts";
import { stateDecider } from "./state-decider.ts";

const few = fc.constantFrom(0, 0, 1, 3);
const moment = fc.oneof(
  fc.constantFrom(0, 1, 2, 14.999, 15, 60, 899.999, 900, -5).map(secondsAgo),
  fc.integer({ min: -100, max: 2000 }).map(secondsAgo),
);

/**
 * Any world at all, in which most that is likely is not unlikely: a quarter of those in Guard would sleep if nothing
 * else were so.
 */
const anyService: fc.Arbitrary<ServiceSnapshot> = fc.record({
  at: fc.constant(NOON),
  elastiService: fc.constant({ namespace: "shop", name: "checkout", generation: 1 }),
  service: fc.constant("checkout"),
  policy: fc.record({
    minReplicas: fc.constantFrom(1, 3),
    cooldown: fc.constantFrom(0, 900_000),
    quiet: fc.constantFrom(1000, 15_000),
    settle: fc.constantFrom(0, 2000),
  }),
  dryRun: fc.constantFrom(false, false, false, true),
  blocked: fc.option(
    fc.record({
      reason: fc.constantFrom("Paused", "OriginalRuns", "Unsupported"),
      message: fc.constant("something is in the way"),
    }),
    { freq: 1 },
  ),
  stage: fc.record({
    state: fc.constantFrom(...STATES),
    since: moment,
    purpose: fc.constantFrom("sleep", "safety"),
    requests: fc.option(fc.constantFrom(40, 40, 41), { freq: 8 }),
  }),
  replicas: fc.option(few, { freq: 8 }),
  pods: fc.option(fc.record({ ready: few, leaving: few, starting: few }), { freq: 8 }),
  path: fc.record({
    joined: fc.boolean(),
    resolvers: few,
    provenAt: fc.option(moment),
    unreached: fc.subarray(["IPv4", "IPv6"] as const, { maxLength: 1 }),
    unbound: fc.constantFrom(0, 0, 2),
  }),
  activity: fc.option(
    fc.record({
      pending: few,
      inFlight: few,
      requests: fc.constantFrom(40, 40, 41, 39),
      lastRequestAt: fc.option(moment),
    }),
    { freq: 8 },
  ),
  triggers: fc.array(fc.constantFrom(IDLE, IDLE, IDLE, BUSY, SILENT), { maxLength: 3 }),
  withinPeriod: fc.constantFrom(true, true, false),
  drainPrepared: fc.constantFrom(false, false, false, true),
  createdAt: fc.option(moment, { freq: 2 }),
  idleSince: fc.option(moment, { freq: 2 }),
});

/** Worlds that are put to sleep: everything that may differ without keeping it awake differs. */
const sleepy: fc.Arbitrary<ServiceSnapshot> = fc
  .record({
    replicas: fc.integer({ min: 1, max: 50 }),
    pods: fc.record({ ready: fc.integer({ min: 1, max: 9 }), leaving: few, starting: few }),
    requests: fc.nat(),
    provenAt: fc.integer({ min: 15, max: 5000 }).map(secondsAgo),
    since: fc.integer({ min: 15, max: 5000 }).map(secondsAgo),
    resolvers: fc.integer({ min: 1, max: 5 }),
    triggers: fc.array(fc.constant(IDLE), { minLength: 1, maxLength: 3 }),
    createdAt: fc.integer({ min: 900, max: 9000 }).map(secondsAgo),
    idleSince: fc.option(fc.integer({ min: 900, max: 9000 }).map(secondsAgo)),
  })
  .map(({ replicas, pods, requests, provenAt, since, resolvers, triggers, createdAt, idleSince }) =>
    quietService({
      replicas,
      pods,
      triggers,
      createdAt,
      idleSince,
      activity: { requests, lastRequestAt: secondsAgo(9000) },
      path: { provenAt, resolvers },
      stage: { state: "Guard", purpose: "sleep", requests, since },
    }),
  );

const spoilers: readonly (readonly [string, (snapshot: ServiceSnapshot) => ServiceSnapshot])[] = [
  ["the pods are not known", (snapshot) => ({ ...snapshot, pods: null })],
  ["the requests are not known", (snapshot) => ({ ...snapshot, activity: null })],
  ["the requests before were not known", (snapshot) => ({ ...snapshot, stage: { ...snapshot.stage, requests: null } })],
  [
    "a replica of the resolver stopped",
    (snapshot) => ({ ...snapshot, stage: { ...snapshot.stage, requests: (snapshot.activity?.requests ?? 0) + 1 } }),
  ],
  ["the scale is not known", (snapshot) => ({ ...snapshot, replicas: null })],
  ["a trigger says nothing", (snapshot) => ({ ...snapshot, triggers: [...snapshot.triggers, SILENT] })],
  ["a trigger sees traffic", (snapshot) => ({ ...snapshot, triggers: [...snapshot.triggers, BUSY] })],
  ["there is no trigger", (snapshot) => ({ ...snapshot, triggers: [] })],
  ["the spec cannot be understood", (snapshot) => ({ ...snapshot, specFault: "The last good spec is in force" })],
  ["it is outside of the period", (snapshot) => ({ ...snapshot, withinPeriod: false })],
  [
    "it is within the cooldown",
    (snapshot) => ({ ...snapshot, policy: { ...snapshot.policy, cooldown: 900_000 }, idleSince: secondsAgo(899) }),
  ],
  [
    "the object is younger than the cooldown",
    (snapshot) => ({ ...snapshot, policy: { ...snapshot.policy, cooldown: 900_000 }, createdAt: secondsAgo(899) }),
  ],
  ["a family has no resolver", (snapshot) => ({ ...snapshot, path: { ...snapshot.path, unreached: ["IPv6"] } })],
  ["a port is not listened on", (snapshot) => ({ ...snapshot, path: { ...snapshot.path, unbound: 1 } })],
  ["no resolver is ready", (snapshot) => ({ ...snapshot, path: { ...snapshot.path, resolvers: 0 } })],
  ["the path is not proven", (snapshot) => ({ ...snapshot, path: { ...snapshot.path, provenAt: null } })],
  ["the resolver is not in the path", (snapshot) => ({ ...snapshot, path: { ...snapshot.path, joined: false } })],
  ["a drain is prepared", (snapshot) => ({ ...snapshot, drainPrepared: true })],
  ["a dry run is asked for", (snapshot) => ({ ...snapshot, dryRun: true })],
  ["something blocks it", (snapshot) => ({ ...snapshot, blocked: { reason: "Paused", message: "it is paused" } })],
  [
    "it is in Guard for another reason",
    (snapshot) => ({ ...snapshot, stage: { ...snapshot.stage, purpose: "safety" } }),
  ],
  [
    "it was not quiet for long enough",
    (snapshot) => ({ ...snapshot, path: { ...snapshot.path, provenAt: Date.parse(NOON) - snapshot.policy.quiet + 1 } }),
  ],
];

describe("nothing is scaled to zero", () => {
  test.each(spoilers)("while %s", (_words, spoil) => {
    const sleeps = (snapshot: ServiceSnapshot) => stateDecider.decide(snapshot).action === "sleep";
    fc.assert(fc.property(sleepy, (snapshot) => sleeps(snapshot) && !sleeps(spoil(snapshot))));
    fc.assert(fc.property(anyService, (snapshot) => !sleeps(spoil(snapshot))));
  });

  test("unless it is in Guard to that end, the path is proven, and all that is known says so", () => {
    let slept = 0;
    const property = fc.property(fc.oneof(anyService, sleepy), (snapshot) => {
      const { stage, path, policy, replicas, activity, pods } = snapshot;
      if (stateDecider.decide(snapshot).action !== "sleep") return;
      slept += 1;
      expect(stage).toMatchObject({ state: "Guard", purpose: "sleep" });
      expect(path.joined).toBe(true);
      const quietSince = Math.max(path.provenAt ?? Infinity, stage.since);
      expect(Date.parse(snapshot.at) - quietSince).toBeGreaterThanOrEqual(policy.quiet);
      expect(obstacles(snapshot)).toEqual([]);
      expect(replicas).toBeGreaterThan(0);
      expect(pods?.ready).toBeGreaterThan(0);
      expect(activity).toMatchObject({ pending: 0, inFlight: 0, requests: stage.requests });
      expect(activity?.lastRequestAt ?? 0).toBeLessThanOrEqual(stage.since);
    });
    fc.assert(property, { numRuns: 2000 });
    expect(slept).toBeGreaterThan(100);
  });
});

test("whatever the world is, one of the arrows is taken, and says so in words", () => {
  const known = new Set(TRANSITIONS.map(({ from, to, action, reason }) => [from, to, action, reason].join(" ")));
  const property = fc.property(anyService, (snapshot) => {
    const { before, after, action, reason, message } = stateDecider.decide(snapshot);
    expect(before).toBe(snapshot.stage.state);
    const taken = [before, after, action, reason].join(" ");
    expect(known.has(taken) || known.has(["any", "same", action, reason].join(" "))).toBe(true);
    expect(message).not.toMatch(/NaN|undefined|null|Infinity|\?/);
  });
  fc.assert(property, { numRuns: 3000 });
});

test("the same snapshot leads to the same decision, and is not changed", () => {
  const property = fc.property(anyService, (snapshot) => {
    const before = JSON.stringify(snapshot);
    const first = stateDecider.decide(snapshot);
    expect(stateDecider.decide(JSON.parse(before) as ServiceSnapshot)).toEqual(first);
    expect(JSON.stringify(snapshot)).toBe(before);
  });
  fc.assert(property);
});

test("decisions in Serve with dry run are marked as dry run, and keep the service in Serve", () => {
  const property = fc.property(anyService, (snapshot) => {
    const { dryRun, action } = stateDecider.decide({ ...snapshot, dryRun: true });
    expect(dryRun).toBe(snapshot.stage.state === "Serve");
    expect(action).not.toBe("sleep");
    if (snapshot.stage.state !== "Serve") expect(action).not.toBe("join");
  });
  fc.assert(property);
});

test("nothing but a request, a trigger that sees traffic, or the end of its period wakes a service", () => {
  const property = fc.property(anyService, (snapshot) => {
    if (stateDecider.decide(snapshot).action !== "wake") return;
    const { activity, stage, triggers, withinPeriod } = snapshot;
    const { pending = 0, inFlight = 0, lastRequestAt = null } = activity ?? {};
    const isAskedFor = pending + inFlight > 0 || (lastRequestAt !== null && lastRequestAt > stage.since);
    const isOver = !withinPeriod && triggers.length > 0 && !snapshot.dryRun;
    expect(isAskedFor || isOver || triggers.some(({ verdict }) => verdict === "busy")).toBe(true);
    expect(snapshot.replicas ?? 0).toBe(0);
  });
  fc.assert(property, { numRuns: 1000 });
});

/** The replicas of the resolver since the service is in its state: what each had counted, what came since, its end. */
const replicas = fc.array(fc.record({ before: fc.nat(4), since: fc.constantFrom(0, 0, 1, 3), stopped: fc.boolean() }), {
  minLength: 1,
  maxLength: 3,
});

test("replicas that stop neither look like requests nor hide them", () => {
  const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0);
  const property = fc.property(replicas, (all) => {
    const running = all.filter(({ stopped }) => !stopped);
    const isRequested = running.some(({ since }) => since > 0);
    const activity = {
      requests: sum(running.map(({ before, since }) => before + since)),
      lastRequestAt: isRequested ? secondsAgo(20) : secondsAgo(100),
    };
    const requests = sum(all.map(({ before }) => before));
    const decided = (state: "Guard" | "Zero") => {
      const stage = { state, purpose: "sleep", since: secondsAgo(60), requests } as const;
      const pods = state === "Zero" ? { ready: 0, leaving: 1 } : {};
      return stateDecider.decide(quietService({ stage, activity, pods, replicas: state === "Zero" ? 0 : 2 }));
    };
    expect(decided("Zero").action).toBe(isRequested ? "wake" : "stay");
    const isCountLost = all.some(({ stopped, before }) => stopped && before > 0);
    expect(decided("Guard").action).toBe(isRequested ? "leave" : isCountLost ? "stay" : "sleep");
  });
  fc.assert(property, { numRuns: 1000 });
});

test("a service without ready pods never loses the resolver in its path", () => {
  const property = fc.property(anyService, (snapshot) => {
    const pods = snapshot.pods && { ...snapshot.pods, ready: 0 };
    expect(stateDecider.decide({ ...snapshot, pods }).action).not.toBe("leave");
  });
  fc.assert(property);
});

test("a workload that was scaled to 0 replicas never loses the resolver in its path", () => {
  const property = fc.property(anyService, fc.nat(29_999), (snapshot, age) => {
    const replicasSeenAt = Date.parse(snapshot.at) - age;
    expect(stateDecider.decide({ ...snapshot, replicas: 0, replicasSeenAt }).action).not.toBe("leave");
  });
  fc.assert(property);
});

test("a service outside its period is not scaled to zero again, so that the end of the period wakes it once", () => {
  const property = fc.property(anyService, (snapshot) => {
    const { reason, action } = stateDecider.decide(snapshot);
    if (action !== "wake" || reason !== "OutsidePeriod") return;
    const awake = { ...snapshot, replicas: 1, pods: { ready: 1, leaving: 0, starting: 0 } };
    for (const state of STATES) {
      for (const purpose of ["sleep", "safety"] as const) {
        const after = stateDecider.decide({ ...awake, stage: { ...snapshot.stage, state, purpose } });
        expect(["sleep", "wake"]).not.toContain(after.action);
        expect(`${after.action} ${after.reason}`).not.toBe("join Idle");
      }
    }
  });
  fc.assert(property, { numRuns: 3000 });
});
