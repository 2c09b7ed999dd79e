import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@jest/globals";
import { LiveStream, type StreamState } from "../src/browser/live/live-stream.ts";

/** A server whose answers the test writes, one after the other; the last one stands for all that follow. */
async function serve(...answers: ((response: ServerResponse) => void)[]) {
  let asked = 0;
  const server = createServer((_request, response) => {
    answers[Math.min(asked++, answers.length - 1)]?.(response);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const dispose = () => {
    server.closeAllConnections();
    server.close();
  };
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { address, asked: () => asked, [Symbol.dispose]: dispose };
}

function follow(address: string, silence?: number) {
  const states: StreamState[] = [];
  const messages: unknown[] = [];
  const waiters = new Set<() => void>();
  const tell = () => {
    for (const wake of waiters) wake();
  };
  const stream = new LiveStream({
    address,
    ...(silence !== undefined && { silence }),
    opened: () => messages.push("opened"),
    message: (data) => {
      messages.push(data);
      tell();
    },
    state: (state) => {
      states.push(state);
      tell();
    },
  });
  const until = (check: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!check()) return;
        waiters.delete(look);
        resolve();
      };
      waiters.add(look);
      look();
    });
  const phases = () => states.map(({ phase }) => phase);
  return { stream, states, messages, phases, until, [Symbol.dispose]: () => stream.close() };
}

const event = (data: unknown, name?: string) =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
const sending =
  (text: string, end = false) =>
  (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(text);
    if (end) response.end();
  };

test("gives each message, and comes back when the server ends the stream", async () => {
  using server = await serve(sending(event(1) + event({}, "end"), true), sending(event(2)));
  using followed = follow(server.address);
  await followed.until(() => followed.messages.includes(2));
  expect(followed.messages).toEqual(["opened", 1, "opened", 2]);
  expect(followed.phases()).toEqual(["connecting", "live", "waiting", "live"]);
  expect(followed.states[2]).toMatchObject({ fault: "the service is stopping" });
});

test.each([
  ["is cut", (response: ServerResponse) => response.destroy(), "the service is unreachable"],
  ["is refused", (response: ServerResponse) => response.writeHead(503).end(), "status 503"],
  ["ends with an error", sending(event({ code: "EK_X", message: "too slow" }, "error")), "too slow (EK_X)"],
  ["sends what is no JSON", sending("data: {\n\n"), "JSON"],
])("tries again, and says why, when the stream %s", async (_name, answer, fault) => {
  using server = await serve(answer, sending(event("back")));
  using followed = follow(server.address);
  await followed.until(() => followed.messages.includes("back"));
  expect(followed.states.find(({ phase }) => phase === "waiting")).toMatchObject({
    fault: expect.stringContaining(fault),
  });
});

test("takes a connection for dead that says nothing, and keeps one that says that it lives", async () => {
  using server = await serve(sending(": open\n\n"), (response) => {
    sending(": open\n\n")(response);
    // The beats before the event take longer than the stream waits in silence.
    let beats = 0;
    const beat = setInterval(() => response.write(++beats === 20 ? event("late") : ": alive\n\n"), 30);
    response.on("close", () => clearInterval(beat));
  });
  using followed = follow(server.address, 400);
  await followed.until(() => followed.messages.includes("late"));
  expect(followed.phases()).toEqual(["connecting", "live", "waiting", "live"]);
  expect(followed.states[2]).toMatchObject({ fault: "the service fell silent" });
});

test("does not ask again for what the service does not have", async () => {
  using server = await serve((response) => response.writeHead(404).end());
  using followed = follow(server.address);
  await followed.until(() => followed.phases().includes("absent"));
  expect(followed.phases()).toEqual(["connecting", "absent"]);
  expect(server.asked()).toBe(1);
});

test("tries at once when it is told to, lets go while it rests, and resumes", async () => {
  using server = await serve((response) => response.destroy(), sending(event("first")), sending(event("second")));
  using followed = follow(server.address);
  await followed.until(() => followed.phases().includes("waiting"));
  followed.stream.retryNow();
  await followed.until(() => followed.messages.includes("first"));
  followed.stream.rest();
  expect(followed.phases().at(-1)).toBe("resting");
  followed.stream.resume();
  await followed.until(() => followed.messages.includes("second"));
  expect(followed.phases().slice(-2)).toEqual(["connecting", "live"]);
});
