import { nameOfKey } from "@evenkeel/kube";
import { LeaderRelay } from "@evenkeel/operator";
import { drainV1 } from "@evenkeel/rpc";
import { FakeClock } from "@evenkeel/runtime/testing";
import { openedState } from "@evenkeel/state-contract";
import { describe, expect, test } from "@jest/globals";
import type { ServiceEndpoint } from "../observe/endpoints.ts";
import { loopback, silence } from "../testing/loopback-rpc.ts";
import { NOON, quietService } from "../testing/quiet-service.ts";
import { boardOf, stored, reconciled } from "../testing/shown-service.ts";
import { type DrainServiceOptions, drainService } from "./drain-service.ts";
import { Preparations } from "./preparations.ts";

const { PREPARATION_READY, PREPARATION_WORKING, PREPARATION_NOT_CONCERNED } = drainV1.Preparation;

function endpoint(pod: string, changes: Partial<ServiceEndpoint> = {}): ServiceEndpoint {
  const address = "10.0.0.1";
  return { address, pod, uid: pod, ready: true, serving: true, terminating: false, ports: {}, ...changes };
}

const LEADS: DrainServiceOptions["relay"] = {
  leads: true,
  ask: () => Promise.resolve(undefined),
  answerBy: () => undefined,
};

/** The service over real gRPC; `behind` has the pods of each Service, null for unknown. */
async function serve(behind: Record<string, readonly ServiceEndpoint[] | null>, token?: string, relay = LEADS) {
  const { store, board, clock } = boardOf();
  for (const key of Object.keys(behind)) store.put(stored(nameOfKey(key).name));
  const told: string[] = [];
  const preparations = new Preparations({ clock, changed: (key) => told.push(key) });
  const endpoints = (key: string) => behind[key] ?? null;
  const { peer, asked, ...rest } = await loopback(
    drainService({ preparations, board, endpoints, clock, relay }),
    token,
  );
  const client = peer.client(drainV1.DrainHookDefinition);
  const named = (name: string) => ({ pod: { namespace: "shop", name, uid: name, node: "n1" }, eviction: "drain-1" });
  const prepare = (name: string, seconds = 60n) =>
    client.prepare({ ...named(name), hold: { seconds, nanos: 0 } }, { retry: false });
  const release = (name: string) => client.release({ ...named(name), evicted: true }, { retry: false });
  return { board, clock, client, told, asked, preparations, prepare, release, ...rest };
}

test("the last ready pod of a Service may go once a probe has reached the resolver", async () => {
  await using at = await serve({ "shop/checkout": [endpoint("a")] });
  at.board.show("shop/checkout", reconciled({ triggers: [], pods: { ready: 1 } }));
  const first = await at.prepare("a");
  expect(first).toMatchObject({ preparation: PREPARATION_WORKING, retryAfter: { nanos: 500_000_000 } });
  expect(first.expiresAt).toBe(new Date(Date.parse(NOON) + 60_000).toISOString());
  expect(first.message).toContain("shop/checkout");
  expect(at.told).toEqual(["shop/checkout"]);
  expect(at.preparations.isPrepared("shop", "checkout")).toBe(true);

  const world = { drainPrepared: true, triggers: [], pods: { ready: 1 } };
  at.board.show("shop/checkout", reconciled(world));
  expect(await at.prepare("a")).toMatchObject({ preparation: PREPARATION_WORKING });
  at.board.show("shop/checkout", reconciled({ ...world, stage: { state: "Guard" }, path: { provenAt: null } }));
  const unproven = await at.prepare("a");
  expect(unproven).toMatchObject({ preparation: PREPARATION_WORKING });
  expect(unproven.message).toContain("probe");
  at.board.show("shop/checkout", reconciled({ ...world, stage: { state: "Guard" } }));
  expect(await at.prepare("a")).toMatchObject({ preparation: PREPARATION_READY, retryAfter: undefined });
  expect(at.told).toEqual(["shop/checkout"]);
  expect(new Set(at.asked)).toEqual(new Set(["captain create pods/eviction shop/a"]));

  await at.release("a");
  expect(at.preparations.isPrepared("shop", "checkout")).toBe(false);
  expect(at.told).toEqual(["shop/checkout", "shop/checkout"]);
});

test.each(["Zero", "Wake"] as const)("in %s requests are held already, so the pod may go", async (state) => {
  await using at = await serve({ "shop/checkout": [endpoint("a")] });
  const snapshot = quietService({ stage: { state }, pods: { ready: 0 }, replicas: 1 });
  at.board.show("shop/checkout", { ...reconciled(), snapshot, stage: snapshot.stage });
  expect(await at.prepare("a")).toMatchObject({ preparation: PREPARATION_READY });
});

test("one of several ready pods may go at once, and the one that is then the last may not", async () => {
  await using at = await serve({ "shop/checkout": [endpoint("a"), endpoint("b"), endpoint("c", { ready: false })] });
  at.board.show("shop/checkout", reconciled({ triggers: [] }));
  expect(await at.prepare("a")).toMatchObject({ preparation: PREPARATION_READY });
  expect(at.preparations.isPrepared("shop", "checkout")).toBe(false);
  expect(await at.prepare("b")).toMatchObject({ preparation: PREPARATION_WORKING });
  expect(at.preparations.isPrepared("shop", "checkout")).toBe(true);
  await at.release("a");
  expect(await at.prepare("b")).toMatchObject({ preparation: PREPARATION_READY });
  expect(at.preparations.isPrepared("shop", "checkout")).toBe(false);
});

test("a pod that is not ready may go at once, although nothing else serves", async () => {
  await using at = await serve({ "shop/checkout": [endpoint("a", { ready: false })] });
  at.board.show("shop/checkout", reconciled({ triggers: [] }));
  expect(await at.prepare("a")).toMatchObject({ preparation: PREPARATION_READY });
  expect(at.told).toEqual([]);
});

test("the last pod stays the last one while it terminates, until it is released", async () => {
  const pods = [endpoint("a")];
  await using at = await serve({ "shop/checkout": pods });
  at.board.show("shop/checkout", reconciled({ triggers: [], pods: { ready: 1 } }));
  await at.prepare("a");
  pods[0] = endpoint("a", { ready: false, terminating: true });
  expect(await at.prepare("a")).toMatchObject({ preparation: PREPARATION_WORKING });
  expect(at.preparations.isPrepared("shop", "checkout")).toBe(true);
  pods.length = 0;
  expect(await at.prepare("a")).toMatchObject({ preparation: PREPARATION_READY });
});

test("a pod of two Services waits for both", async () => {
  await using at = await serve({ "shop/checkout": [endpoint("a")], "shop/till": [endpoint("a")] });
  const guarded = reconciled({ stage: { state: "Guard" }, drainPrepared: true });
  at.board.show("shop/checkout", guarded);
  at.board.show("shop/till", reconciled({ triggers: [] }));
  const answer = await at.prepare("a");
  expect(answer).toMatchObject({ preparation: PREPARATION_WORKING });
  expect(answer.message).toContain("shop/till");
  expect(answer.message).not.toContain("shop/checkout");
  at.board.show("shop/till", guarded);
  expect(await at.prepare("a")).toMatchObject({ preparation: PREPARATION_READY });
});

test("pods of other Services, and others of the same name, are no concern", async () => {
  await using at = await serve({ "shop/checkout": [endpoint("a", { uid: "older" })] });
  at.board.show("shop/checkout", reconciled());
  const answer = await at.prepare("a");
  expect(answer).toMatchObject({ preparation: PREPARATION_NOT_CONCERNED, expiresAt: undefined });
  expect(at.preparations.size).toBe(0);
});

test("unknown endpoints make the caller retry", async () => {
  await using at = await serve({ "shop/checkout": null });
  expect(await at.prepare("a")).toMatchObject({ preparation: PREPARATION_WORKING });
  await using before = await serve({ "shop/checkout": [endpoint("a")] });
  const answer = await before.prepare("a");
  expect(answer).toMatchObject({ preparation: PREPARATION_WORKING });
  expect(answer.message).toContain("shop/checkout");
});

test.each([
  ["paused", { blocked: { reason: "Paused", message: "the annotation evenkeel.io/paused is set" } as const }],
  ["in a dry run", { dryRun: true }],
])("a service that is %s is not changed, and the eviction does not wait", async (_word, world) => {
  await using at = await serve({ "shop/checkout": [endpoint("a")] });
  at.board.show("shop/checkout", reconciled(world));
  expect(await at.prepare("a")).toMatchObject({ preparation: PREPARATION_READY });
  expect(at.preparations.isPrepared("shop", "checkout")).toBe(false);
});

test("a preparation that is not released ends by itself", async () => {
  await using at = await serve({ "shop/checkout": [endpoint("a")] });
  at.board.show("shop/checkout", reconciled({ triggers: [], pods: { ready: 1 } }));
  await at.prepare("a", 30n);
  await at.clock.advance(30_000);
  expect(at.preparations.isPrepared("shop", "checkout")).toBe(false);
  expect(at.told).toEqual(["shop/checkout", "shop/checkout"]);
});

describe("a replica that does not lead", () => {
  /** A leader and a follower with shared state. */
  async function two(behind: Record<string, readonly ServiceEndpoint[] | null>) {
    const { state, close } = await openedState("sqlite::memory:");
    const clock = new FakeClock();
    const relays = ["leader", "follower"].map(
      (instance) => new LeaderRelay({ name: "drains", state, instance, clock, log: silence }),
    );
    const [first, second] = relays as [LeaderRelay, LeaderRelay];
    for (const relay of relays) relay.start();
    const term = new AbortController();
    const led = first.lead({ signal: term.signal, held: () => !term.signal.aborted });
    const [leader, follower] = [await serve(behind, undefined, first), await serve(behind, undefined, second)];
    const end = async () => {
      term.abort();
      await led;
      for (const relay of relays) relay.stop();
      await leader[Symbol.asyncDispose]();
      await follower[Symbol.asyncDispose]();
      await close();
    };
    return { leader, follower, clock, term, [Symbol.asyncDispose]: end };
  }

  test("answers as the leader does, which keeps the preparation and ends it", async () => {
    await using at = await two({ "shop/checkout": [endpoint("a")] });
    at.leader.board.show("shop/checkout", reconciled({ triggers: [], pods: { ready: 1 } }));
    const first = await at.follower.prepare("a");
    expect(first).toMatchObject({ preparation: PREPARATION_WORKING, retryAfter: { nanos: 500_000_000 } });
    expect(first).toEqual(await at.leader.prepare("a"));
    expect(at.leader.preparations.isPrepared("shop", "checkout")).toBe(true);
    expect(at.follower.preparations.size).toBe(0);
    at.leader.board.show(
      "shop/checkout",
      reconciled({ stage: { state: "Guard" }, drainPrepared: true, pods: { ready: 1 } }),
    );
    expect(await at.follower.prepare("a")).toMatchObject({ preparation: PREPARATION_READY });
    await at.follower.release("a");
    expect(at.leader.preparations.size).toBe(0);
  });

  test("makes the caller retry without a leader, except for a pod that is not concerned", async () => {
    await using at = await two({ "shop/checkout": [endpoint("a")] });
    at.term.abort();
    const untilGivenUp = async <T>(call: Promise<T>): Promise<T> => {
      while (at.clock.pending === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      await at.clock.advance(2000);
      return call;
    };
    const working = await untilGivenUp(at.follower.prepare("a"));
    expect(working).toMatchObject({ preparation: PREPARATION_WORKING, expiresAt: undefined });
    const unconcerned = await untilGivenUp(at.follower.prepare("b"));
    expect(unconcerned).toMatchObject({ preparation: PREPARATION_NOT_CONCERNED });
    const release = at.follower.release("a");
    const silent = { cause: { details: expect.stringContaining("Release") } };
    await Promise.all([expect(release).rejects.toMatchObject(silent), untilGivenUp(Promise.resolve())]);
    expect(at.clock.pending).toBe(0);
  });
});

test("a caller without the right to evict the pod may not prepare or release it", async () => {
  await using at = await serve({ "shop/checkout": [endpoint("a")] }, "guest");
  await expect(at.prepare("a")).rejects.toThrow("guest may not create pods/eviction shop/a");
  await expect(at.release("a")).rejects.toThrow("EK_RPC_FORBIDDEN");
  expect(at.preparations.size).toBe(0);
});

test.each([
  ["a hold is needed", { hold: undefined }, "hold"],
  ["a hold ends", { hold: { seconds: 3601n, nanos: 0 } }, "hold"],
  ["an eviction has a name", { eviction: "" }, "eviction"],
  ["a name ends", { eviction: "e".repeat(300) }, "253"],
  ["a pod has a uid", { pod: { namespace: "shop", name: "a" } }, "pod.uid"],
])("%s", async (_sentence, changes, fault) => {
  await using at = await serve({});
  const pod = { namespace: "shop", name: "a", uid: "a" };
  const call = at.client.prepare({ pod, eviction: "e", hold: { seconds: 5n, nanos: 0 }, ...changes });
  await expect(call).rejects.toThrow(fault);
});
