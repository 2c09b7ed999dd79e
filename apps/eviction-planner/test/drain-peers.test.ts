import { drainV1 } from "@evenkeel/rpc";
import { eventually } from "@evenkeel/runtime/testing";
import { ADMIN } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { drainPeer } from "./drain-peer.ts";
import { hotSpot, load, nodesOf, policy, read } from "./hot-spot.ts";

const { PREPARATION_READY, PREPARATION_WORKING, PREPARATION_REFUSED } = drainV1.Preparation;

test("a peer prepares each pod before it is evicted, and hears that its replacement is ready", async () => {
  await using resolver = await drainPeer((asked) => (asked < 3 ? PREPARATION_WORKING : PREPARATION_READY));
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
  await using resolver = await drainPeer(() => PREPARATION_REFUSED);
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
