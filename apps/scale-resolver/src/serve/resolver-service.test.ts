import { resolverV1 } from "@evenkeel/rpc";
import { describe, expect, test } from "@jest/globals";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { loopback } from "../testing/loopback-rpc.ts";
import { BUSY, NOON, secondsAgo, SILENT } from "../testing/quiet-service.ts";
import { boardOf, seenBy, stored, reconciled } from "../testing/shown-service.ts";
import type { BoardOptions } from "./board.ts";
import { resolverService, type ResolverServiceOptions } from "./resolver-service.ts";

const { State } = resolverV1;
const checkout = { namespace: "shop", name: "checkout" };
const atZero = { stage: { state: "Zero" }, replicas: 0, pods: { ready: 0 } } as const;
const falling = { stage: { state: "Guard", purpose: "sleep" } } as const;

/** The service over real gRPC, before a board that the test fills; what it patches and wakes is written down. */
async function serve(
  options: Partial<ResolverServiceOptions> = {},
  token?: string,
  activity?: BoardOptions["activity"],
) {
  const { store, board, clock } = boardOf(activity && { activity });
  const done: unknown[] = [];
  const elastiServices: ResolverServiceOptions["elastiServices"] = {
    patch: (name, patch) => {
      done.push({ ...name, ...patch });
      return Promise.resolve(stored("checkout"));
    },
  };
  const wake = (...words: readonly string[]) => {
    done.push(words.join(" "));
    return Promise.resolve(true);
  };
  const service = resolverService({ board, elastiServices, wake, clock, ...options });
  const { peer, asked, ...rest } = await loopback(service, token);
  const client = peer.client(resolverV1.ResolverDefinition);
  return { store, board, clock, client, asked, done, [Symbol.asyncDispose]: rest[Symbol.asyncDispose] };
}

describe("Activity", () => {
  test("returns what is known of each service, and omits the rest", async () => {
    await using at = await serve();
    at.store.put(stored("checkout"));
    at.store.put(stored("search"));
    at.board.show("shop/checkout", reconciled({ ...atZero, activity: { pending: 3 } }, { lastWakeMs: 2105 }));
    const { services } = await at.client.activity({});
    expect(services).toMatchObject([
      {
        service: checkout,
        state: State.STATE_WAKE,
        since: NOON,
        replicas: 0,
        pending: 3n,
        inFlight: 0n,
        activityUnknown: false,
        lastRequestAt: new Date(secondsAgo(900)).toISOString(),
        lastWake: { seconds: 2n, nanos: 105_000_000 },
        reason: "RequestHeld",
        decidedAt: NOON,
        elastiService: "checkout",
        target: "Deployment/checkout",
        pods: { ready: 0 },
        paused: false,
      },
      { service: { name: "search" }, state: State.STATE_UNSPECIFIED, activityUnknown: true, reason: "" },
    ]);
    expect(services[1]).toMatchObject({ replicas: undefined, since: undefined, lastWake: undefined, pods: undefined });
  });

  test("has the requests of all resolvers by replica, and names replicas that do not report", async () => {
    let gap: string | null = null;
    const seen = seenBy({ replica: "a", pending: 2 }, { replica: "b", pending: 3, inFlight: 4 });
    await using at = await serve({}, undefined, () => ({ ...seen, gap }));
    at.store.put(stored("checkout"));
    const resolvers = [
      { name: "a", pending: 2n, inFlight: 0n },
      { name: "b", pending: 3n, inFlight: 4n },
    ];
    const sums = { pending: 5n, inFlight: 4n, resolvers };
    const known = { ...sums, activityUnknown: false, activityGap: "" };
    expect((await at.client.activity({})).services).toMatchObject([known]);
    gap = "Not heard of: c";
    expect((await at.client.activity({})).services).toMatchObject([
      { ...sums, activityUnknown: true, activityGap: gap },
    ]);
  });

  test("is asked for a namespace or one Service of it", async () => {
    await using at = await serve();
    at.store.put(stored("checkout"));
    at.store.put({ ...stored("video"), metadata: { namespace: "media", name: "video" } });
    const names = async (request: resolverV1.DeepPartial<resolverV1.ActivityRequest>) =>
      (await at.client.activity(request)).services.map(({ service }) => service?.name);
    expect(await names({ namespace: "media" })).toEqual(["video"]);
    expect(await names(checkout)).toEqual(["checkout"]);
    expect(await names({ namespace: "shop", name: "video" })).toEqual([]);
    await expect(at.client.activity({ name: "video" })).rejects.toThrow("EK_RPC_BAD_REQUEST");
  });
});

describe("Watch", () => {
  test("sends the current state at once, then each change, then the deletion", async () => {
    await using at = await serve();
    at.store.put(stored("checkout"));
    at.board.show("shop/checkout", reconciled({ triggers: [BUSY] }));
    const events = at.client.watch({})[Symbol.asyncIterator]();
    const next = async () => (await events.next()).value as resolverV1.WatchResponse | undefined;
    expect(await next()).toMatchObject({ event: { $case: "service", value: { state: State.STATE_SERVE } } });
    at.board.show("shop/checkout", reconciled());
    expect(await next()).toMatchObject({ event: { $case: "service", value: { state: State.STATE_GUARD } } });
    at.store.remove(stored("checkout"));
    expect(await next()).toMatchObject({ event: { $case: "removed", value: checkout } });
    await events.return?.();
  });

  test("sends nothing of other services", async () => {
    await using at = await serve();
    const events = at.client.watch(checkout)[Symbol.asyncIterator]();
    const next = events.next();
    for (const name of ["search", "checkout", "cart"]) at.store.put(stored(name));
    expect((await next).value).toMatchObject({ event: { $case: "service", value: { service: checkout } } });
    await events.return?.();
  });

  test("keeps only the names of changed services for a slow reader", async () => {
    await using at = await serve();
    at.store.put(stored("checkout"));
    at.board.show("shop/checkout", reconciled({ triggers: [BUSY] }));
    const implementation = resolverService({ ...({} as ResolverServiceOptions), board: at.board }).implementation;
    const leaving = new AbortController();
    const events = implementation.watch({ namespace: "", name: "" }, { signal: leaving.signal } as Parameters<
      typeof implementation.watch
    >[1]);
    const reader = events[Symbol.asyncIterator]();
    await reader.next();
    const pending = reader.next();
    for (let change = 0; change < 1000; change++) at.board.show("shop/checkout", reconciled({ triggers: [BUSY] }));
    at.board.show("shop/checkout", reconciled());
    expect((await pending).value).toMatchObject({ event: { value: { state: State.STATE_GUARD } } });
    const end = reader.next();
    leaving.abort();
    expect(await end).toMatchObject({ done: true });
  });
});

describe("Wake", () => {
  test("wakes a service that sleeps, for a caller with the right to update its ElastiService", async () => {
    await using at = await serve();
    at.store.put(stored("night-rest", { spec: { service: "checkout" } }));
    at.board.show("shop/night-rest", reconciled(atZero));
    const answer = await at.client.wake({ service: checkout, reason: "a fair opens" });
    expect(answer).toEqual({ woken: true, state: State.STATE_WAKE });
    expect(at.done).toEqual(["shop checkout a fair opens"]);
    expect(at.asked).toEqual(["captain update elastiservices shop/night-rest"]);
  });

  test.each([
    ["serves", {}, State.STATE_GUARD],
    ["wakes already", { ...atZero, activity: { pending: 1 } }, State.STATE_WAKE],
  ])("does not change a service that %s", async (_word, world, state) => {
    await using at = await serve();
    at.store.put(stored("checkout"));
    at.board.show("shop/checkout", reconciled(world));
    expect(await at.client.wake({ service: checkout })).toEqual({ woken: false, state });
    expect(at.done).toEqual([]);
  });

  test("is refused to others, and for Services that are not managed", async () => {
    await using at = await serve({}, "guest");
    at.store.put(stored("checkout"));
    at.board.show("shop/checkout", reconciled(atZero));
    await expect(at.client.wake({ service: checkout })).rejects.toThrow("EK_RPC_FORBIDDEN");
    expect(at.done).toEqual([]);
    await using open = await serve();
    await expect(open.client.wake({ service: checkout })).rejects.toThrow("EK_RPC_NOT_FOUND");
    await expect(open.client.wake({})).rejects.toThrow("EK_RPC_BAD_REQUEST");
  });

  test("fails before the first reconcile", async () => {
    await using at = await serve();
    at.store.put(stored("checkout"));
    const fault = await at.client.wake({ service: checkout }, { retry: false }).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: "EK_RPC_PEER_AWAY", recovery: "retryable" });
    expect(String((fault as Error).cause)).toContain("shop/checkout");
    expect(at.done).toEqual([]);
  });
});

describe("Preview", () => {
  async function preview(world: Parameters<typeof reconciled>[0], seconds = 0) {
    const at = await serve();
    at.store.put(stored("checkout"));
    at.board.show("shop/checkout", reconciled(world));
    await at.clock.advance(seconds * 1000);
    const answer = await at.client.preview({ service: checkout });
    await at[Symbol.asyncDispose]();
    return answer;
  }

  test("says everything that keeps a service awake, not only the first", async () => {
    const answer = await preview({ triggers: [SILENT], withinPeriod: false });
    expect(answer).toMatchObject({ state: State.STATE_SERVE, next: State.STATE_SERVE, reason: "TriggerUnknown" });
    expect(answer.obstacles.map(({ reason }) => reason)).toEqual(["TriggerUnknown", "OutsidePeriod"]);
    expect(answer.blockers).toEqual(answer.obstacles.map(({ message }) => message));
    expect(answer.waits).toEqual([]);
  });

  test("says what Guard still waits for", async () => {
    const unproven = await preview({ ...falling, path: { provenAt: null } });
    expect(unproven.waits.map(({ reason }) => reason)).toEqual(["PathUnproven", "Quieting"]);
    const quieting = await preview({ ...falling, path: { provenAt: secondsAgo(5) } }, 4);
    expect(quieting).toMatchObject({ state: State.STATE_GUARD, next: State.STATE_GUARD, blockers: [] });
    expect(quieting.waits).toMatchObject([{ reason: "Quieting" }]);
    expect(quieting.waits[0]?.message).toContain("9 s of 15 s");
  });

  test("starts from the result of the last reconcile, at the current time", async () => {
    expect(await preview({ ...falling, path: { provenAt: secondsAgo(5) } }, 10)).toMatchObject({
      state: State.STATE_GUARD,
      next: State.STATE_ZERO,
      reason: "Quiet",
    });
    // The reconcile scaled it to zero: its two replicas are removed.
    expect(await preview(falling)).toMatchObject({
      state: State.STATE_ZERO,
      next: State.STATE_ZERO,
      reason: "LastPodLeaving",
      blockers: [],
      waits: [],
    });
    expect(await preview({ ...atZero, activity: { pending: 1 } })).toMatchObject({
      state: State.STATE_WAKE,
      next: State.STATE_WAKE,
      waits: [{ reason: "PodsStarting" }],
    });
  });

  test("foretells that the end of its period wakes a service", async () => {
    await using at = await serve();
    at.store.put(stored("checkout"));
    const decided = reconciled({ ...atZero, withinPeriod: false });
    // As long as it is not carried out.
    at.board.show("shop/checkout", { ...decided, stage: decided.snapshot.stage });
    expect(await at.client.preview({ service: checkout })).toMatchObject({
      state: State.STATE_ZERO,
      next: State.STATE_WAKE,
      reason: "OutsidePeriod",
    });
  });

  test("counts the requests of this moment", async () => {
    await using at = await serve({}, undefined, () => seenBy({ inFlight: 1, requests: 41 }));
    at.store.put(stored("checkout"));
    at.board.show("shop/checkout", reconciled({ ...falling, path: { provenAt: secondsAgo(5) } }));
    expect(await at.client.preview({ service: checkout })).toMatchObject({ reason: "RequestSeen" });
  });

  test("expects nothing while a resolver does not report", async () => {
    await using at = await serve({}, undefined, () => ({ ...seenBy({}), gap: "Not heard of: b" }));
    at.store.put(stored("checkout"));
    at.board.show("shop/checkout", reconciled({ ...falling, path: { provenAt: secondsAgo(5) } }));
    expect(await at.client.preview({ service: checkout })).toMatchObject({ reason: "ActivityUnknown" });
  });

  test("names a pause and a dry run", async () => {
    const blocked = { reason: "Paused", message: "the annotation evenkeel.io/paused is set" } as const;
    const answer = await preview({ blocked, dryRun: true });
    expect(answer.obstacles.map(({ reason }) => reason)).toEqual(["Paused", "DryRun"]);
    expect(answer.blockers[0]).toContain("evenkeel.io/paused");
  });
});

test("History has the changes of state, the wakes and what waited", async () => {
  await using at = await serve();
  at.store.put(stored("checkout"));
  at.board.show("shop/checkout", reconciled({ ...atZero, activity: { pending: 2 } }));
  at.board.woken("shop/checkout", { startedAt: secondsAgo(0), scaleMs: 8.4, startMs: 2000, connectMs: null, held: 2 });
  at.board.show("shop/checkout", reconciled({ stage: { state: "Wake" }, activity: null, replicas: null, pods: null }));
  const { changes, wakes, queue } = await at.client.history({ service: checkout });
  expect(changes).toMatchObject([
    { at: new Date(secondsAgo(60)).toISOString(), state: State.STATE_ZERO, reason: "" },
    { at: NOON, state: State.STATE_WAKE, reason: "RequestHeld" },
  ]);
  expect(wakes).toEqual([
    {
      startedAt: NOON,
      scale: { seconds: 0n, nanos: 8_000_000 },
      start: { seconds: 2n, nanos: 0 },
      connect: undefined,
      held: 2n,
    },
  ]);
  expect(queue).toEqual([
    { at: NOON, pending: 2n, inFlight: 0n, replicas: 0 },
    { at: NOON, pending: undefined, inFlight: undefined, replicas: undefined },
  ]);
});

test("Pause and Resume set the annotation of the ElastiService, for a caller with the right to patch it", async () => {
  await using at = await serve();
  const object: StoredElastiService = stored("night-rest", { spec: { service: "checkout" } });
  at.store.put(object);
  await at.client.pause({ service: checkout });
  await at.client.resume({ service: checkout });
  const merge = (value: string | null) => {
    return { type: "merge", body: { metadata: { annotations: { "evenkeel.io/paused": value } } } };
  };
  expect(at.done).toEqual([
    { namespace: "shop", name: "night-rest", ...merge("true") },
    { namespace: "shop", name: "night-rest", ...merge(null) },
  ]);
  expect(new Set(at.asked)).toEqual(new Set(["captain patch elastiservices shop/night-rest"]));
});
