import { openPage } from "@evenkeel/testkit/browser";
import { describeInBrowser } from "@evenkeel/testkit/jest";
import { resolverV1 } from "@evenkeel/rpc";
import { eventually } from "@evenkeel/runtime/testing";
import { describeRedis } from "@evenkeel/state-contract";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { peerAt } from "../src/testing/loopback-rpc.ts";
import type { Replica } from "./pair.ts";
import { PairScene } from "./pair-scene.ts";
import { times } from "./world.ts";

jest.setTimeout(90_000);

/** From a pod's creation until it is ready, in milliseconds: long enough to see the state Wake. */
const START = 1200;
const ALONE = /shared state .* replica [ab]\b/;

describeRedis("what each of two replicas shows", () => {
  let scene: PairScene;

  beforeAll(async () => {
    scene = await PairScene.start(START);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  /** A service that sleeps and cannot wake until `wake` is called, with requests held in both replicas. */
  async function held(name: string, counts: { readonly a: number; readonly b: number }) {
    const { world, pair } = scene;
    await scene.asleep(name);
    const end = world.faults.add({
      fault: { kind: "status", code: 503 },
      verb: "patch",
      resource: "deployments",
      name,
    });
    const answers = [...(await scene.hold(pair.a, name, counts.a)), ...(await scene.hold(pair.b, name, counts.b))];
    const wake = async () => {
      end();
      world.traffic.set(name, 5);
      expect(await Promise.all(answers)).toEqual(times(counts.a + counts.b, 200));
    };
    return { wake };
  }

  async function calling(replica: Replica) {
    const peer = peerAt(await scene.pair.listener(replica, "grpc"), "secret");
    const client = peer.client(resolverV1.ResolverDefinition);
    const activity = async (name: string) => (await client.activity({ namespace: "default", name })).services[0];
    return { client, activity, [Symbol.dispose]: () => peer.stop() };
  }

  test.concurrent("Activity and Watch of either replica have all of them, by replica", async () => {
    const { pair } = scene;
    using a = await calling(pair.a);
    using b = await calling(pair.b);
    const service = await held("both", { a: 3, b: 40 });
    const [inA, inB] = [
      { name: "a", pending: 3n, inFlight: 0n },
      { name: "b", pending: 40n, inFlight: 0n },
    ];
    const known = { pending: 43n, inFlight: 0n, activityUnknown: false, activityGap: "" };
    await eventually(async () => expect(await a.activity("both")).toMatchObject({ ...known, resolvers: [inA, inB] }));
    await eventually(async () => expect(await b.activity("both")).toMatchObject({ ...known, resolvers: [inB, inA] }));

    // The follower reports changes too.
    const follower = pair.other(await pair.leader()) === pair.a ? a : b;
    const closing = new AbortController();
    const stream = follower.client.watch({ namespace: "default", name: "both" }, { signal: closing.signal });
    const pending: bigint[] = [];
    for await (const { event } of stream) {
      if (event?.$case !== "service" || event.value.activityUnknown) continue;
      pending.push(event.value.pending);
      if (pending.length === 1) await service.wake();
      if (event.value.pending === 0n) break;
    }
    closing.abort();
    expect(pending.at(0)).toBe(43n);
    expect(pending.at(-1)).toBe(0n);
  });

  describeInBrowser("the page", (browser) => {
    async function show(replica: Replica, name: string) {
      const origin = `http://${await scene.pair.listener(replica, "admin")}`;
      const opened = await openPage(browser(), origin);
      const { page } = opened;
      page.setDefaultTimeout(15_000);
      await page.goto(`${origin}/dashboard/#/?service=default/${name}`);
      const heading = page.getByRole("heading", { name: `default/${name}` });
      return { ...opened, detail: page.locator(".service-detail", { has: heading }) };
    }

    test.concurrent(
      "shows a service as it falls asleep and wakes, with its reasons, and wakes and pauses it with a token",
      async () => {
        const { world, pair } = scene;
        const leader = await pair.leader();
        await world.workload("checkout");
        await world.elasti("checkout");
        await using opened = await show(leader, "checkout");
        const { page, complaints, detail } = opened;
        const state = detail.locator(".stat", { hasText: "State" });
        const next = detail.getByRole("region", { name: "What is next" });
        await state.getByText(/^Serve/).waitFor();
        await next.getByText("Keeps it awake").waitFor();
        await next.getByText("Busy", { exact: true }).waitFor();
        await detail.getByText("Deployment/checkout").waitFor();

        world.traffic.set("checkout", 0);
        await state.getByText(/^Zero/).waitFor();
        await detail.getByRole("img", { name: /States of default\/checkout .*, now Zero/ }).waitFor();
        expect(await world.replicas("checkout")).toBe(0);
        await world.sleeps("checkout");

        const answer = pair.ask(leader, "checkout", { method: "POST", path: "/buy", body: "one" });
        await state.getByText(/^Wake/).waitFor();
        await detail.locator(".stat", { hasText: "Waiting" }).getByText("1", { exact: true }).waitFor();
        expect((await answer).status).toBe(200);
        const wake = detail.getByRole("img", { name: /scale call \d+ ms, pod start [\d.]+ m?s, first answer \d+ ms/ });
        await wake.waitFor();
        // The band moves with time, so a single hover may miss it.
        await eventually(async () => {
          await detail.locator(".band.Wake").last().hover();
          await detail.locator(".band-tip").getByText("The resolver holds 1 request").waitFor({ timeout: 500 });
        });
        await detail.locator(".decisions").getByText(/→/).first().waitFor();

        // Without requests it falls asleep again.
        await state.getByText(/^Zero/).waitFor();
        const dialog = page.getByRole("dialog");
        await detail.getByRole("button", { name: "Wake" }).click();
        await dialog.getByLabel("Bearer token").fill("of nobody");
        await page.keyboard.press("Enter");
        await dialog.getByRole("alert").getByText("EK_RPC_UNAUTHENTICATED").waitFor();
        expect(await world.replicas("checkout")).toBe(0);
        await dialog.getByLabel("Bearer token").fill("secret");
        await page.keyboard.press("Enter");
        await dialog.waitFor({ state: "detached" });
        await world.isScaledTo("checkout", 1);
        world.traffic.set("checkout", 5);
        await state.getByText(/^Serve/).waitFor();

        await detail.getByRole("button", { name: "Pause" }).click();
        await dialog.getByRole("button", { name: "Pause" }).click();
        await detail.getByRole("button", { name: "Resume" }).waitFor();
        await eventually(async () =>
          expect((await world.get("checkout")).metadata.annotations).toMatchObject({ "evenkeel.io/paused": "true" }),
        );
        await next.getByText("evenkeel.io/paused").waitFor();
        expect(complaints).toEqual([]);
      },
    );

    // Redis is of all services, so that this one runs alone, when those before it have ended.
    test("shows the requests of both by replica, and while Redis is away that each knows its own alone", async () => {
      const { pair } = scene;
      using a = await calling(pair.a);
      using b = await calling(pair.b);
      const replica = pair.other(await pair.leader());
      await using opened = await show(replica, "shown");
      const { complaints, detail } = opened;
      const service = await held("shown", { a: 4, b: 6 });
      const waiting = detail.locator(".stat", { hasText: "Waiting" });
      await waiting.getByText("10", { exact: true }).waitFor();
      const rows = detail.locator(".resolvers tbody tr");
      await rows.nth(1).waitFor();
      const shown = (await rows.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim());
      expect(shown.toSorted()).toEqual(["a 4 0", "b 6 0"]);
      expect(shown[0]).toMatch(replica.name);

      await pair.redis.kill();
      for (const [{ activity }, name, pending] of [[a, "a", 4n] as const, [b, "b", 6n] as const]) {
        await eventually(async () =>
          expect(await activity("shown")).toMatchObject({
            pending,
            activityUnknown: true,
            activityGap: expect.stringMatching(ALONE),
            resolvers: [{ name, pending }],
          }),
        );
      }
      await waiting.getByText(replica.name === "a" ? "At least 4" : "At least 6", { exact: true }).waitFor();
      await waiting.getByText(ALONE).waitFor();
      await pair.redis.run();
      await eventually(async () =>
        expect(await a.activity("shown")).toMatchObject({ pending: 10n, activityUnknown: false }),
      );
      await waiting.getByText("10", { exact: true }).waitFor();
      await service.wake();
      await waiting.getByText("0", { exact: true }).waitFor();
      expect(complaints).toEqual([]);
    });
  });
});
