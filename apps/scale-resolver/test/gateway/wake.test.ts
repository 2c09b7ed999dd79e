import { describe, expect, test } from "@jest/globals";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { ask, digestOf } from "./ask.ts";
import { GateWorld, KEY } from "./gate-world.ts";
import { PodServer } from "./pod-server.ts";

describe("a request to a Service without serving pods", () => {
  test("asks for a wake at once, waits, and is answered by the pod that becomes ready", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const port = await world.put();
    const answer = ask(port, { id: "one", path: "/buy?card=1", body: "hello" });
    await eventually(() => world.gate.activity(KEY).pending === 1);
    expect(world.wakes).toEqual([KEY]);
    expect(pod.begun).toBe(0);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    const { status, body, headers } = await answer;
    expect({ status, body }).toEqual({ status: 200, body: `one ${digestOf("hello")}` });
    expect(headers["x-evenkeel-cold-start"]).toBe("true");
    expect(Number(headers["x-evenkeel-wait-ms"])).toBeGreaterThanOrEqual(0);
    await eventually(() => world.gate.activity(KEY).inFlight === 0);
    expect(world.gate.activity(KEY)).toMatchObject({ pending: 0, inFlight: 0, requests: 1 });
    await eventually(() => world.accessLog().length > 0);
    expect(world.accessLog()).toEqual([
      expect.objectContaining({ service: KEY, outcome: "released", status: 200, method: "POST", path: "/buy" }),
    ]);
    expect(world.firstAnswers).toHaveLength(1);
  });

  test("has its answer when the pod begins to answer, however long it streams", async () => {
    const clock = new FakeClock();
    await using world = await GateWorld.start({}, clock);
    let end: () => void = () => undefined;
    await using pod = await PodServer.start({
      answer: (_request, response) => {
        response.write("first ");
        end = () => response.end("last");
      },
    });
    const port = await world.put();
    const answer = ask(port);
    await eventually(() => world.gate.activity(KEY).pending === 1);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    await eventually(() => world.firstAnswers.length === 1);
    expect(world.gate.activity(KEY)).toMatchObject({ pending: 0, inFlight: 1 });
    await clock.advance(60_000);
    end();
    expect(await answer).toMatchObject({ status: 200, body: "first last" });
    await eventually(() => world.gate.activity(KEY).inFlight === 0);
    expect(world.firstAnswers).toEqual([0]);
  });
});
