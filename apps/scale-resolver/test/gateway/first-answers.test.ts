import { Agent, type ServerResponse } from "node:http";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import { ask } from "./ask.ts";
import { GateWorld, KEY } from "./gate-world.ts";
import { PodServer } from "./pod-server.ts";

/** Two requests that waited have reached a pod, which has not answered yet. */
async function forwarded(clock: FakeClock, scene: AsyncDisposableStack) {
  const answers: ServerResponse[] = [];
  const world = scene.use(await GateWorld.start({}, clock));
  const answer = (_request: unknown, response: ServerResponse) => void answers.push(response);
  const pod = scene.use(await PodServer.start({ answer }));
  const port = await world.put();
  const asked = [ask(port), ask(port)];
  await eventually(() => world.gate.activity(KEY).pending === 2);
  world.changes.length = 0;
  world.gate.endpoints(KEY, [pod.endpoint()]);
  await eventually(() => answers.length === 2);
  return { answers, world, asked };
}

describe("the end of the queue is reported", () => {
  test("after the last request has its answer, so that no decision delays it", async () => {
    await using scene = new AsyncDisposableStack();
    const { answers, world, asked } = await forwarded(new FakeClock(), scene);
    expect([world.changes, world.gate.isReleasing(KEY)]).toEqual([[], true]);
    answers[0]?.end("one");
    await eventually(() => world.gate.activity(KEY).inFlight === 1);
    expect([world.changes, world.gate.isReleasing(KEY)]).toEqual([[], true]);
    answers[1]?.end("two");
    await Promise.all(asked);
    await eventually(() => world.changes.length > 0);
    expect([world.changes, world.gate.isReleasing(KEY)]).toEqual([[KEY], false]);
  });

  test("after 100 ms if an answer takes longer, as streams do, and not again after the answer", async () => {
    const clock = new FakeClock();
    await using scene = new AsyncDisposableStack();
    const { answers, world, asked } = await forwarded(clock, scene);
    await clock.advance(99);
    expect([world.changes, world.gate.isReleasing(KEY)]).toEqual([[], true]);
    await clock.advance(1);
    expect([world.changes, world.gate.isReleasing(KEY)]).toEqual([[KEY], false]);
    for (const answer of answers) answer.end("late");
    await Promise.all(asked);
    await eventually(() => world.gate.activity(KEY).inFlight === 0);
    expect(world.changes).toEqual([KEY]);
  });
});

test("a client that sends its next request on the same connection queues behind waiting requests, and waits no longer than they do", async () => {
  await using world = await GateWorld.start({}, new FakeClock());
  await using pod = await PodServer.start();
  const port = await world.put(KEY, { hold: { concurrencyPerPod: 1 } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const first = ask(port, { id: "first", agent });
  await eventually(() => world.gate.activity(KEY).pending === 1);
  const others = ["second", "third"].map((id) => ask(port, { id }));
  await eventually(() => world.gate.activity(KEY).pending === 3);
  const again = first.then(() => ask(port, { id: "again", agent }));
  world.gate.endpoints(KEY, [pod.endpoint()]);
  await Promise.all([again, ...others]);
  expect(pod.arrivals.map(({ id }) => id).at(0)).toBe("first");
  expect(pod.arrivals.map(({ id }) => id).at(-1)).toBe("again");
  agent.destroy();
});
