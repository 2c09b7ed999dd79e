import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { eventually } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import { type Answer, ask } from "./ask.ts";
import { GateWorld, KEY } from "./gate-world.ts";
import { PodServer } from "./pod-server.ts";

const COUNT = 20;
const each = (method: "GET" | "POST"): readonly { id: string; method: string; body?: string }[] =>
  Array.from({ length: COUNT }, (_, index) =>
    method === "GET" ? { id: `${index}`, method } : { id: `${index}`, method, body: `body of ${index}` },
  );

/**
 * Two pods. The first has answered as many requests as it will get, so that each of those reuses a connection. From
 * then on it does not respond.
 */
async function scene(method: "GET" | "POST") {
  let mute = false;
  const silent: ServerResponse[] = [];
  const warming: ServerResponse[] = [];
  const world = await GateWorld.start();
  const first = await PodServer.start({
    answer: (asked, response) => {
      asked.resume();
      asked.on("end", () => {
        // All at once, so that each has a connection of its own.
        if ((mute ? silent : warming).push(response) === COUNT && !mute) for (const one of warming) one.end("warm");
      });
    },
  });
  const second = await PodServer.start();
  const port = await world.put();
  world.gate.endpoints(KEY, [first.endpoint()]);
  const asked = (count = COUNT) =>
    Promise.all(
      each(method)
        .slice(0, count)
        .map((one) => ask(port, one)),
    );
  await asked();
  mute = true;
  const { connections } = first;
  return {
    world,
    first,
    second,
    silent,
    port,
    asked,
    connections,
    /** A killed process: every connection breaks, and new ones are refused. Its EndpointSlice is not updated yet. */
    kill: async () => {
      // Those that would be used next first.
      for (const { req } of warming.toReversed()) req.socket.destroy();
      first.server.close();
      first.server.closeAllConnections();
      await once(first.server, "close");
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
    },
  };
}

const statuses = (answers: readonly Answer[]) => new Set(answers.map(({ status }) => status));

describe("a pod that is killed while another one serves", () => {
  test("with GETs in flight on reused connections loses none of them: the other pod answers", async () => {
    await using s = await scene("GET");
    const answers = s.asked();
    await eventually(() => s.silent.length === COUNT);
    expect(s.first.connections).toBe(s.connections);
    s.world.gate.endpoints(KEY, [s.first.endpoint(), s.second.endpoint()]);
    await s.kill();
    expect(statuses(await answers)).toEqual(new Set([200]));
    const ids = s.second.arrivals.map(({ id }) => Number(id)).sort((a, b) => a - b);
    expect(ids).toEqual(Array.from({ length: COUNT }, (_, index) => index));
  });

  test("with POSTs in flight fails them with 502, since it may have processed them: no other pod gets them", async () => {
    await using s = await scene("POST");
    const answers = s.asked();
    await eventually(() => s.silent.length === COUNT);
    expect(s.first.connections).toBe(s.connections);
    s.world.gate.endpoints(KEY, [s.first.endpoint(), s.second.endpoint()]);
    await s.kill();
    const got = await answers;
    expect(statuses(got)).toEqual(new Set([502]));
    expect(got[0]?.body).toContain("EK_FORWARD_BROKEN");
    expect(s.second.begun).toBe(0);
  });

  test.each(["GET", "POST"] as const)(
    "with idle connections loses no %s that comes at the same moment: nothing of it was sent",
    async (method) => {
      await using s = await scene(method);
      s.world.gate.endpoints(KEY, [s.first.endpoint(), s.second.endpoint()]);
      const dying = s.kill();
      const answers = s.asked();
      await dying;
      expect(statuses(await answers)).toEqual(new Set([200]));
      expect(s.silent).toEqual([]);
      expect(s.second.arrivals).toHaveLength(COUNT);
      expect(new Set(s.second.arrivals.map(({ id }) => id)).size).toBe(COUNT);
    },
  );
});

test("a pod that is killed while no other serves loses no POST that is about to be sent to it, however many of its connections close one after the other", async () => {
  await using s = await scene("POST");
  s.world.gate.endpoints(KEY, []);
  const answers = s.asked(1);
  await eventually(() => s.world.gate.activity(KEY).pending === 1);
  // From a timer: what happens to the connections is read before anything is written to them.
  await new Promise((resolve) => setTimeout(resolve));
  const dying = s.kill();
  s.world.gate.endpoints(KEY, [s.first.endpoint()]);
  await dying;
  await Promise.race([eventually(() => s.world.gate.activity(KEY).pending === 1), answers]);
  s.world.gate.endpoints(KEY, [s.second.endpoint()]);
  expect(statuses(await answers)).toEqual(new Set([200]));
  expect(s.silent).toEqual([]);
  expect(s.second.arrivals).toHaveLength(1);
});
