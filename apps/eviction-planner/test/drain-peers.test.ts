import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { MetricRegistry } from "@evenkeel/metrics";
import { drainV1, RpcServer } from "@evenkeel/rpc";
import { systemClock } from "@evenkeel/runtime";
import { eventually, silentLog } from "@evenkeel/runtime/testing";
import { ADMIN } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { hotSpot, load, nodesOf, policy, read } from "./hot-spot.ts";

const { PREPARATION_READY, PREPARATION_WORKING, PREPARATION_REFUSED } = drainV1.Preparation;

interface Call {
  readonly method: "prepare" | "release";
  readonly uid: string;
  readonly evicted?: boolean;
}

/** A service that has a say in evictions, over real gRPC. It answers with what the test says. */
async function peer(answer: (asked: number) => drainV1.Preparation) {
  const calls: Call[] = [];
  const tokens: string[] = [];
  const server = new RpcServer({
    ...{ host: "127.0.0.1", port: 0, transport: "insecure", mtls: false, clock: systemClock, log: silentLog() },
    limits: { message: 1 << 20, calls: 100, streams: 100 },
    registry: new MetricRegistry(),
    authorizer: {
      authorize: (token) => {
        tokens.push(token);
        return Promise.resolve({ allowed: true, user: "planner" });
      },
    },
  });
  const access = { verb: "create", object: { group: "", resource: "pods", subresource: "eviction" } };
  server.add({
    definition: drainV1.DrainHookDefinition,
    access: { prepare: () => access, release: () => access },
    implementation: {
      prepare: ({ pod }) => {
        calls.push({ method: "prepare", uid: pod?.uid ?? "" });
        const preparation = answer(calls.filter(({ uid }) => uid === pod?.uid).length);
        return Promise.resolve({ preparation, message: "said the peer", retryAfter: { seconds: 0n, nanos: 1e8 } });
      },
      release: ({ pod, evicted }) => {
        calls.push({ method: "release", uid: pod?.uid ?? "", evicted });
        return Promise.resolve({});
      },
    },
  });
  await server.start({ signal: new AbortController().signal, fail: () => undefined });
  const stop = () => server.stop(AbortSignal.timeout(0));
  return { calls, tokens, address: `127.0.0.1:${server.port}`, [Symbol.asyncDispose]: stop };
}

test("a peer prepares each pod before it is evicted, and hears that its replacement is ready", async () => {
  await using resolver = await peer((asked) => (asked < 3 ? PREPARATION_WORKING : PREPARATION_READY));
  await using world = await hotSpot();
  load(world, policy("default", { basis: "requests", dryRun: false, maxEvictionsPerMinute: 1 }));
  world.serve(["--sync-period=500ms", `--drain-peers=${resolver.address}`]);
  await eventually(async () => {
    const [first] = resolver.calls;
    const own = resolver.calls.filter(({ uid }) => uid === first?.uid);
    expect(own.map(({ method }) => method)).toEqual(["prepare", "prepare", "prepare", "release"]);
    expect(own.at(-1)).toMatchObject({ evicted: true });
    expect((await nodesOf(world)).filter((node) => node === "one")).toHaveLength(6);
  }, 60_000);
  expect(new Set(resolver.tokens)).toEqual(new Set([ADMIN.token]));
}, 90_000);

test("a peer that refuses keeps every pod, is released each time, and the pods say why", async () => {
  await using resolver = await peer(() => PREPARATION_REFUSED);
  await using world = await hotSpot();
  load(world, policy("default", { basis: "requests", dryRun: false, maxEvictionsPerMinute: 100 }));
  world.serve(["--sync-period=500ms", `--drain-peers=${resolver.address}`]);
  await eventually(async () => {
    expect(resolver.calls.filter(({ method }) => method === "release")).toContainEqual(
      expect.objectContaining({ evicted: false }),
    );
    const { items } = await read<{
      readonly items: readonly { readonly reason: string; readonly regarding: object }[];
    }>(world, "apis/events.k8s.io/v1/namespaces/default/events");
    expect(items).toContainEqual(
      expect.objectContaining({
        reason: "PeerRefused",
        regarding: expect.objectContaining({ kind: "Pod" }) as unknown,
      }),
    );
  }, 60_000);
  expect(await nodesOf(world)).toEqual(Array<string>(7).fill("one"));
}, 90_000);

test("a peer that never answers holds pods with ready siblings up no longer than its deadline", async () => {
  const sockets = new Set<Socket>();
  const hung = createServer((socket) => sockets.add(socket)).listen(0, "127.0.0.1");
  await once(hung, "listening");
  try {
    await using world = await hotSpot();
    load(world, policy("default", { basis: "requests", dryRun: false, maxEvictionsPerMinute: 1 }));
    const service = world.serve([
      "--sync-period=500ms",
      `--drain-peers=127.0.0.1:${(hung.address() as AddressInfo).port}`,
    ]);
    await service.line(({ msg }) => msg === "evicted a pod");
    await eventually(async () => {
      expect((await nodesOf(world)).filter((node) => node === "one")).toHaveLength(6);
    }, 60_000);
  } finally {
    for (const socket of sockets) socket.destroy();
    hung.close();
  }
}, 120_000);
