import type { Service } from "@evenkeel/kube";
import { FakeClock } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import type { ServiceSnapshot } from "../decide/snapshot.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { BUSY, checkout, IDLE, NOON, quietService, secondsAgo } from "../testing/quiet-service.ts";
import { stored } from "../testing/shown-service.ts";
import { Observer, type ObserverOptions, type Subject } from "./observer.ts";
import type { Memory } from "./stages.ts";

const never = new AbortController().signal;
const WEB: Service = { metadata: {}, spec: { clusterIP: "10.0.0.1", ports: [{ port: 80 }] } };
const time = (milliseconds: number) => new Date(milliseconds).toISOString();
const object = stored("checkout", { metadata: { namespace: "shop", name: "checkout" } });
/** About to sleep, with the path verified a minute ago. */
const falling: Memory = {
  stage: quietService({ stage: { state: "Guard", purpose: "sleep" } }).stage,
  provenAt: secondsAgo(60),
  idleSince: secondsAgo(2000),
  observedAt: secondsAgo(1),
  replicasSeenAt: null,
  interrupted: 0,
};

/** What is seen at noon of the quiet service; undefined while triggers that matter have not been read. */
function tryToObserve(
  subject: Partial<Subject>,
  options: Partial<ObserverOptions> = {},
  signal = never,
): Promise<ServiceSnapshot | undefined> {
  const { pods, activity } = quietService();
  const observer = new Observer({
    view: { services: { get: () => WEB }, pods: () => pods } as unknown as ObserverOptions["view"],
    replicas: () => Promise.resolve(2),
    triggers: () => Promise.resolve([IDLE]),
    activity: () => Promise.resolve(activity),
    original: () => Promise.resolve(undefined),
    resolvers: () => 1,
    unreached: () => [],
    unbound: () => 0,
    drainPrepared: () => false,
    prove: () => Promise.resolve(false),
    clock: new FakeClock(NOON),
    settle: 2000,
    ownPorts: [8012, 8080],
    portRange: { first: 20_000, last: 20_999 },
    ...options,
  });
  const rest = { fault: undefined, memory: undefined, joined: false };
  return observer.observe({ object, binding: checkout, ...rest, ...subject }, signal);
}

/** What is seen of it with triggers that are read at once. */
async function observe(...args: Parameters<typeof tryToObserve>): Promise<ServiceSnapshot> {
  const seen = await tryToObserve(...args);
  if (!seen) throw new Error("the triggers have not been read");
  return seen;
}

describe("triggers that have not been read yet", () => {
  const triggers = () => Promise.resolve(undefined);

  test("leave open what becomes of a service with ready pods", async () => {
    expect(await tryToObserve({}, { triggers })).toBeUndefined();
    expect(await tryToObserve({ memory: falling }, { triggers })).toBeUndefined();
  });

  test("do not matter when the last pod ends, or is about to be evicted", async () => {
    const pods = { ready: 0, leaving: 1, starting: 0 };
    const view = { services: { get: () => WEB }, pods: () => pods } as unknown as ObserverOptions["view"];
    expect(await tryToObserve({}, { triggers, view })).toMatchObject({ pods, triggers: [] });
    expect(await tryToObserve({}, { triggers, drainPrepared: () => true })).toMatchObject({
      drainPrepared: true,
      triggers: [],
    });
  });
});

describe("the scale", () => {
  test("is read in Guard, because a workload that was scaled to zero must not lose the resolver", async () => {
    const { stage } = quietService({ stage: { state: "Guard", purpose: "safety" } });
    const replicas = () => Promise.resolve(0);
    const seen = { replicasSeenAt: secondsAgo(1) };
    expect(await observe({ memory: { ...falling, ...seen, stage } }, { replicas })).toMatchObject({
      replicas: 0,
      ...seen,
    });
  });

  test("is not read while pods serve and the resolver is not in the path", async () => {
    expect(await observe({})).toMatchObject({ replicas: null });
  });
});

describe("a scale that cannot be read", () => {
  const hung = new Error("GET /scale took too long");
  const replicas = () => Promise.reject(hung);

  test("is unknown", async () => {
    const seen = await observe({ memory: falling }, { replicas });
    expect(seen).toMatchObject({ replicas: null, scaleFault: expect.stringContaining("GET /scale") });
  });

  test("ends the look with its own error when the deadline has passed", async () => {
    await expect(observe({ memory: falling }, { replicas }, AbortSignal.abort())).rejects.toBe(hung);
  });
});

describe("from when a cooldown counts", () => {
  const created = (status: StoredElastiService["status"]): StoredElastiService => ({
    ...object,
    metadata: { ...object.metadata, creationTimestamp: time(secondsAgo(5000)) },
    ...(status && { status }),
  });

  test("is found by another leader in the status", async () => {
    const lastScaledUpTime = time(secondsAgo(300));
    const seen = await observe({ object: created({ lastScaledUpTime }) });
    expect(seen).toMatchObject({ createdAt: secondsAgo(5000), idleSince: secondsAgo(300) });
  });

  test("is the remembered time, because the status may be older", async () => {
    const lastScaledUpTime = time(secondsAgo(300));
    const memory = { ...falling, idleSince: secondsAgo(220) };
    expect(await observe({ object: created({ lastScaledUpTime }), memory })).toMatchObject({
      idleSince: secondsAgo(220),
    });
  });

  test("is the object's creation where it had neither traffic nor a wake", async () => {
    const activity = () => Promise.resolve(quietService({ activity: { lastRequestAt: null } }).activity);
    expect(await observe({ object: created(undefined) }, { activity })).toMatchObject({
      createdAt: secondsAgo(5000),
      idleSince: null,
    });
  });

  test("is the last request at the resolver, even if no trigger reports it", async () => {
    const activity = () => Promise.resolve(quietService({ activity: { lastRequestAt: secondsAgo(4) } }).activity);
    expect(await observe({ memory: { ...falling, interrupted: 3 } }, { activity })).toMatchObject({
      idleSince: secondsAgo(4),
      interrupted: 3,
    });
  });

  test("is now while a trigger says that there is traffic", async () => {
    const triggers = () => Promise.resolve([IDLE, BUSY]);
    expect(await observe({ memory: falling }, { triggers })).toMatchObject({ idleSince: Date.parse(NOON) });
  });
});

describe("the path of a service that is about to sleep", () => {
  /**
   * Joined `joined` seconds ago and observed a second ago, with a settle time of two seconds. Returns the rounds of
   * probes and their results.
   */
  const probed = async (joined: number, memory: Partial<Memory> = {}) => {
    const rounds: unknown[] = [];
    const prove: ObserverOptions["prove"] = (_service, round) => {
      rounds.push(round);
      return Promise.resolve(true);
    };
    const unproven = { ...falling, stage: { ...falling.stage, since: secondsAgo(joined) }, provenAt: null, ...memory };
    const { path } = await observe({ memory: unproven, joined: true }, { prove });
    return { rounds, provenAt: path.provenAt };
  };

  test("is not probed before nodes have had time to follow", async () => {
    expect(await probed(1.9)).toEqual({ rounds: [], provenAt: null });
  });

  test("is probed without a request to pods at first", async () => {
    expect(await probed(2)).toEqual({ rounds: [{ ready: 2, blind: false }], provenAt: Date.parse(NOON) });
  });

  test("is probed ever less often after that", async () => {
    expect((await probed(3.5)).rounds).toEqual([]);
    expect((await probed(4)).rounds).toEqual([{ ready: 2, blind: true }]);
    expect((await probed(7)).rounds).toEqual([]);
    expect((await probed(8.5)).rounds).toHaveLength(1);
  });

  test("is taken for granted where probes are disabled", async () => {
    const memory = { ...falling, provenAt: null };
    const { path } = await observe({ memory, joined: true }, { prove: undefined });
    expect(path.provenAt).toBe(Date.parse(NOON));
  });

  test("stays proven while the resolver is in it", async () => {
    expect((await observe({ memory: falling, joined: true })).path.provenAt).toBe(secondsAgo(60));
  });

  test("is verified again after another client removed the resolver from it", async () => {
    const { path } = await observe({ memory: falling, joined: false });
    expect(path).toMatchObject({ joined: false, provenAt: null });
  });

  test("has the families in which no resolver is reached, and the ports that could not be opened", async () => {
    const { path } = await observe({}, { unreached: () => ["IPv6"], unbound: () => 1 });
    expect(path).toMatchObject({ resolvers: 1, unreached: ["IPv6"], unbound: 1 });
  });
});

test("OriginalRuns has priority over Paused", async () => {
  const paused = { ...object, metadata: { ...object.metadata, annotations: { "evenkeel.io/paused": "true" } } };
  expect((await observe({ object: paused })).blocked).toMatchObject({ reason: "Paused" });
  const original = () => Promise.resolve("KubeElasti's operator runs");
  expect((await observe({ object: paused }, { original })).blocked).toMatchObject({ reason: "OriginalRuns" });
});

describe("a Service with a local traffic policy", () => {
  const observeSpec = (spec: Service["spec"], memory?: Memory) => {
    const view = { services: { get: () => ({ metadata: {}, spec: { ...WEB.spec, ...spec } }) }, pods: () => PODS };
    return observe({ ...(memory && { memory }) }, { view: view as unknown as ObserverOptions["view"] });
  };
  const PODS = { ready: 2, leaving: 0, starting: 0 };

  test.each([
    ["internalTrafficPolicy", { internalTrafficPolicy: "Local" }],
    ["externalTrafficPolicy", { type: "LoadBalancer", externalTrafficPolicy: "Local" }],
  ])("by %s is not supported", async (field, spec) => {
    const { blocked, localOnly } = await observeSpec(spec);
    expect(blocked).toEqual({ reason: "Unsupported", message: expect.stringContaining(field) });
    expect(localOnly).toBeUndefined();
  });

  test("is brought back to its pods if it became so while it is redirected", async () => {
    const { blocked, localOnly } = await observeSpec({ internalTrafficPolicy: "Local" }, falling);
    expect(blocked).toBeNull();
    expect(localOnly).toContain("internalTrafficPolicy");
  });

  test("is none that spreads it over the cluster, near or far", async () => {
    const spec = {
      internalTrafficPolicy: "Cluster",
      externalTrafficPolicy: "Cluster",
      trafficDistribution: "PreferClose",
    };
    expect((await observeSpec(spec)).blocked).toBeNull();
  });
});

describe("a Service with several ports, of which one has a port of the resolver itself as its target,", () => {
  const service = (targetPort: number | string): Service => ({
    metadata: {},
    spec: {
      clusterIP: "10.0.0.1",
      ports: [
        { name: "http", port: 80, targetPort },
        { name: "metrics", port: 81, targetPort: 9100 },
      ],
    },
  });
  const seen = (of: Service, memory?: Memory) =>
    observe(memory ? { memory } : {}, {
      view: { services: { get: () => of }, pods: () => quietService().pods } as unknown as ObserverOptions["view"],
    });

  test("is not redirected, because ingress-nginx would make that port public", async () => {
    expect((await seen(service(8080))).blocked).toMatchObject({ reason: "Unsupported" });
  });

  test.each([20_000, 20_500, 20_999])(
    "is not redirected either if it is %i, which may be for another Service, whose pods ingress-nginx would reach",
    async (port) => {
      expect((await seen(service(port))).blocked).toMatchObject({ reason: "Unsupported" });
    },
  );

  test("is restored if it is redirected", async () => {
    const snapshot = await seen(service(8080), falling);
    expect(snapshot).toMatchObject({ blocked: null, localOnly: expect.stringContaining("8080") });
  });

  test.each<[string, Service]>([
    ["another port", service(3000)],
    ["one beside those of Services", service(21_000)],
    ["a name", service("http")],
    ["it as the target of its only port", { metadata: {}, spec: { ports: [{ port: 80, targetPort: 8080 }] } }],
  ])("is redirected if it has %s", async (_, of) => {
    expect((await seen(of)).blocked).toBeNull();
  });
});
