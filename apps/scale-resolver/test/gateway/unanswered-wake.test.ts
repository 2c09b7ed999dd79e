import { connect } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { ask } from "./ask.ts";
import { GateWorld, HOST, KEY } from "./gate-world.ts";
import { PodServer } from "./pod-server.ts";

const GET = "GET /slow HTTP/1.1\r\nhost: a.test\r\n\r\n";

/** A client that sends a request and can disconnect. */
function client(port: number) {
  const socket = connect({ host: HOST, port });
  socket.on("error", () => undefined);
  socket.write(GET);
  return socket;
}

describe("a wake whose only client disconnects", () => {
  test.each([
    ["with its request at a pod", true],
    ["before a pod took its request", false],
  ])("%s has no first answer, also if a request is queued hours later", async (_when, takes) => {
    const clock = new FakeClock();
    const unanswered: string[] = [];
    await using world = await GateWorld.start({ unanswered: (key) => unanswered.push(key) }, clock);
    const late: (() => void)[] = [];
    await using pod = await PodServer.make({
      answer: ({ url }, response) => {
        if (url === "/late") late.push(() => response.end());
      },
    });
    if (takes) await pod.listen();
    const port = await world.put(KEY, { hold: { concurrencyPerPod: 1, timeout: 86_400_000 } });
    const leaving = client(port);
    await eventually(() => world.gate.activity(KEY).pending === 1);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    if (takes) await eventually(() => pod.begun === 1);
    leaving.destroy();
    await eventually(() => unanswered.length === 1);
    expect(world.gate.activity(KEY)).toMatchObject({ pending: 0, inFlight: 0 });
    if (!takes) await pod.listen();
    await clock.advance(3_600_000);

    const first = ask(port, { path: "/late" });
    await eventually(() => late.length === 1);
    const second = ask(port, { path: "/late" });
    await eventually(() => world.gate.activity(KEY).pending === 1);
    late[0]?.();
    await eventually(() => late.length === 2);
    late[1]?.();
    expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200]);
    expect([world.firstAnswers, unanswered]).toEqual([[], [KEY]]);
  });
});
