import { chromiumProgram, openBrowser, openPage } from "@evenkeel/testkit/browser";
import { resolverV1 } from "@evenkeel/rpc";
import { eventually } from "@evenkeel/runtime/testing";
import { describeRedis } from "@evenkeel/state-contract";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { peerAt } from "../src/testing/loopback-rpc.ts";
import type { Replica } from "./pair.ts";
import { PairScene } from "./pair-scene.ts";
import { times } from "./world.ts";

jest.setTimeout(90_000);

const program = chromiumProgram();
const ALONE = /shared state .* replica [ab]\b/;

describeRedis("what each of two replicas shows of the requests of both", () => {
  let scene: PairScene;

  beforeAll(async () => {
    scene = await PairScene.start(300);
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

  test("Activity and Watch of either replica have all of them, by replica", async () => {
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

    // The one that does not lead tells of changes, too.
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

  test("while Redis is away each reports that it knows its own alone", async () => {
    const { pair } = scene;
    const service = await held("apart", { a: 2, b: 5 });
    using a = await calling(pair.a);
    using b = await calling(pair.b);
    await pair.redis.kill();
    for (const [{ activity }, name, pending] of [[a, "a", 2n] as const, [b, "b", 5n] as const]) {
      await eventually(async () =>
        expect(await activity("apart")).toMatchObject({
          pending,
          activityUnknown: true,
          activityGap: expect.stringMatching(ALONE),
          resolvers: [{ name, pending }],
        }),
      );
    }
    await pair.redis.run();
    await eventually(async () =>
      expect(await a.activity("apart")).toMatchObject({ pending: 7n, activityUnknown: false }),
    );
    await service.wake();
  });

  (program === undefined ? test.skip : test)(
    `the page shows them by replica${program === undefined ? " (needs chromium)" : ""}`,
    async () => {
      const { pair } = scene;
      const browser = await openBrowser(program ?? "");
      const replica = pair.other(await pair.leader());
      const address = `http://${await pair.listener(replica, "admin")}`;
      const { page, complaints, ...opened } = await openPage(browser, address);
      page.setDefaultTimeout(15_000);
      await page.goto(`${address}/dashboard/#/?service=default/shown`);
      const service = await held("shown", { a: 4, b: 6 });
      const detail = page.locator(".service-detail", { has: page.getByRole("heading", { name: "default/shown" }) });
      const waiting = detail.locator(".stat", { hasText: "Waiting" });
      await waiting.getByText("10", { exact: true }).waitFor();
      const rows = detail.locator(".resolvers tbody tr");
      await rows.nth(1).waitFor();
      const shown = (await rows.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim());
      expect(shown.toSorted()).toEqual(["a 4 0", "b 6 0"]);
      expect(shown[0]).toMatch(replica.name);

      await pair.redis.kill();
      await waiting.getByText(replica.name === "a" ? "At least 4" : "At least 6", { exact: true }).waitFor();
      await waiting.getByText(ALONE).waitFor();
      await pair.redis.run();
      await waiting.getByText("10", { exact: true }).waitFor();
      await service.wake();
      await waiting.getByText("0", { exact: true }).waitFor();
      expect(complaints).toEqual([]);
      await opened.close();
      await browser.close();
    },
  );
});
