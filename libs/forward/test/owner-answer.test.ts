import { once } from "node:events";
import { type ClientHttp2Stream, connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { describe, expect, test } from "@jest/globals";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { type Answer, forwardErrors, type Outcome } from "../src/index.ts";
import { Stage, type StageOptions } from "./parts/stage.ts";
import { standstill } from "./parts/standstill.ts";
import { Wire } from "./parts/wire.ts";

const MiB = 1024 * 1024;
const GET = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const post = (length: number, more = "") => `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n${more}\r\n`;
const EXPECT = "expect: 100-continue\r\n";

async function start(answer: Answer["answer"], options: StageOptions = {}, more: Partial<Answer> = {}) {
  const outcomes: Outcome[] = [];
  const destination: Answer = { answer, settled: (outcome) => outcomes.push(outcome), ...more };
  const stage = await Stage.start({ router: { route: () => destination }, ...options });
  return Object.assign(stage, { outcomes });
}

/** One request over HTTP/2 to its end. */
async function ask(stage: Stage, method: string, body?: string) {
  const session = connectHttp2(stage.url);
  const stream: ClientHttp2Stream = session.request({ ":path": "/", ":method": method }, { endStream: !body });
  let head: IncomingHttpHeaders & { ":status"?: number | undefined } = {};
  let trailers: IncomingHttpHeaders = {};
  let text = "";
  let broken = false;
  stream.on("response", (own) => (head = own));
  stream.on("trailers", (own: IncomingHttpHeaders) => (trailers = own));
  stream.on("error", () => (broken = true));
  stream.on("data", (data: Buffer) => (text += String(data)));
  if (body !== undefined) stream.end(body);
  stream.resume();
  await new Promise((resolve) => stream.once("close", resolve));
  session.destroy();
  return { status: head[":status"], code: head["evenkeel-error"], head, text, trailers, broken };
}

const echo: Answer["answer"] = async (request, response) => {
  const body = await request.body(10);
  response.head(200, ["X-Owner", "yes", "connection", "x-owner-hop", "x-owner-hop", "1"]);
  await response.write(`${request.exchange.method} `);
  await response.write(body);
  response.end(["x-sum", "3"]);
};

describe("an owner's answer", () => {
  test("has head, parts and trailers, and the request's body, over HTTP/1.1", async () => {
    await using stage = await start(echo);
    const client = await Wire.to(stage.port);
    const answer = await client.send(`${post(3)}abc`).until("x-sum: 3\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\nx-owner: yes\r\n[^]*\r\n5\r\nPOST \r\n3\r\nabc\r\n0\r\nx-sum: 3/);
    expect(answer).not.toContain("x-owner-hop");
    client.clear();
    await client
      .send("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n")
      .until("x-sum");
    client.clear();
    expect(await client.send(GET).until("x-sum: 3\r\n\r\n")).toContain("GET ");
    await stage.settled();
    expect(stage.outcomes).toEqual(Array(3).fill({ status: 200, end: "answered" }));
    client.socket.destroy();
    await stage.settled({ clientSockets: 0, upstreamSockets: 0 });
  });

  test("has the same over HTTP/2, and is counted", async () => {
    await using stage = await start(echo);
    expect(await ask(stage, "POST", "abc")).toMatchObject({
      status: 200,
      head: { "x-owner": "yes" },
      text: "POST abc",
      trailers: { "x-sum": "3" },
      broken: false,
    });
    expect(await ask(stage, "HEAD")).toMatchObject({ status: 200, text: "", broken: false });
    await stage.settled();
    expect(stage.outcomes).toEqual(Array(2).fill({ status: 200, end: "answered" }));
    await stage.forwarder.stop(AbortSignal.abort());
    expect(await stage.registry.text()).toContain('evenkeel_forward_requests_total{protocol="h2",answer="2xx"} 2');
  });

  test("refuses a body beyond its limit, by its length before it is sent, and else while it comes", async () => {
    await using stage = await start(echo);
    const announced = await Wire.to(stage.port);
    announced.send(post(11, EXPECT));
    const refusal = await announced.end();
    expect(refusal).toMatch(/^HTTP\/1\.1 413 [^]*evenkeel-error: EK_FORWARD_BODY_TOO_LONG\r\n/);
    const chunked = await Wire.to(stage.port);
    chunked.send("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\nghijkl\r\n");
    await chunked.until(/^HTTP\/1\.1 413 /);
    chunked.socket.destroy();
    expect(await ask(stage, "POST", "abcdefghijkl")).toMatchObject({ status: 413, code: "EK_FORWARD_BODY_TOO_LONG" });
    await stage.settled();
    expect(stage.outcomes).toEqual(Array(3).fill({ status: 413, end: "refused" }));
  });

  test("sends 100 Continue when the body is read, and not before", async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const clock = new FakeClock();
    await using stage = await start(
      async (request, response) => {
        await promise;
        await echo(request, response);
      },
      { deadlines: { expect: 30 }, clock },
    );
    const client = await Wire.to(stage.port);
    client.send(post(2, EXPECT));
    await stage.settled({ exchanges: 1 });
    await clock.advance(1_000);
    // What was written to the client has arrived before the answer to a later connection.
    await (await Wire.to(stage.port)).send("no request\r\n\r\n").end();
    expect(client.received).toBe("");
    resolve(undefined);
    await client.until("HTTP/1.1 100 Continue\r\n\r\n");
    await client.send("hi").until(/200 OK[^]*hi[^]*x-sum/);
    client.socket.destroy();
  });

  test.each(["HTTP/1.1", "HTTP/2"])("is written no faster than a client of %s reads", async (protocol) => {
    let written = 0;
    const part = Buffer.alloc(MiB);
    await using stage = await start(async (_request, response) => {
      response.head(200, ["content-length", String(64 * MiB)]);
      while (written < 64) {
        written += 1;
        await response.write(part);
      }
      response.end();
    });
    const settles = async () => {
      await eventually(() => written > 0);
      return standstill(() => written);
    };
    let bytes = 0;
    if (protocol === "HTTP/1.1") {
      const client = await Wire.to(stage.port);
      client.socket.removeAllListeners("data");
      client.send(GET).socket.pause();
      expect(await settles()).toBeLessThan(20);
      client.socket.on("data", (data) => (bytes += data.length)).resume();
      while (bytes < 64 * MiB) await once(client.socket, "data");
      client.socket.destroy();
    } else {
      const session = connectHttp2(stage.url);
      const stream = session.request({ ":path": "/" });
      expect(await settles()).toBeLessThan(20);
      stream.on("data", (data: Buffer) => (bytes += data.length));
      await once(stream, "close");
      session.destroy();
    }
    expect(bytes).toBeGreaterThanOrEqual(64 * MiB);
    await stage.settled();
    expect(stage.outcomes).toEqual([{ status: 200, end: "answered" }]);
  });

  test.each(["HTTP/1.1", "HTTP/2"])(
    "hears of a client of %s that leaves, in body, head and parts",
    async (protocol) => {
      const heard: unknown[] = [];
      const codeOf = (error: unknown) => (error as { code?: string }).code;
      const places: Answer["answer"][] = [
        (request) => request.body(100).then(() => undefined),
        ({ signal }) => once(signal, "abort").then(() => Promise.reject(signal.reason as Error)),
        async (_request, response) => {
          response.head(200, []);
          for (;;) await response.write(Buffer.alloc(MiB));
        },
      ];
      await using stage = await start(async (request, response) => {
        try {
          await places.shift()?.(request, response);
        } catch (error) {
          heard.push([codeOf(error), request.signal.aborted, codeOf(request.signal.reason)]);
          throw error;
        }
      });
      while (places.length > 0) {
        const left = places.length;
        const seen = () => eventually(() => places.length < left);
        if (protocol === "HTTP/1.1") {
          const client = await Wire.to(stage.port);
          client.send(`${post(10)}ab`);
          await seen();
          client.socket.destroy();
        } else {
          const session = connectHttp2(stage.url);
          const stream = session.request({ ":path": "/", ":method": "POST" });
          stream.on("error", () => undefined);
          stream.write("ab");
          await seen();
          session.destroy();
        }
        await stage.settled();
      }
      expect(heard).toEqual(Array(3).fill(["EK_FORWARD_EXCHANGE_ENDED", true, "EK_FORWARD_EXCHANGE_ENDED"]));
      expect(stage.outcomes.map(({ end }) => end)).toEqual(["left", "left", "left"]);
      await stage.settled({ clientSockets: 0, timers: 0 });
    },
  );

  test("that fails before its head is a refusal with the error's code", async () => {
    const errors = [
      new forwardErrors.Stopping({}),
      new forwardErrors.BadTlsMaterial({ subject: "a", fault: "b" }),
      new Error("a defect"),
    ];
    await using stage = await start(() => {
      throw errors.shift() as Error;
    });
    expect(await ask(stage, "GET")).toMatchObject({ status: 503, code: "EK_FORWARD_STOPPING" });
    expect(await ask(stage, "GET")).toMatchObject({ status: 500, code: "EK_FORWARD_BAD_TLS_MATERIAL" });
    expect(await ask(stage, "GET")).toMatchObject({ status: 500, code: "EK_FORWARD_NOT_ANSWERED" });
    expect(stage.lines.filter((line) => line.includes("a defect"))).toHaveLength(1);
    await stage.settled();
  });

  test.each<[string, Answer["answer"]]>([
    [
      "throws",
      async (_request, response) => {
        response.head(200, []);
        await response.write("part");
        throw new Error("a defect");
      },
    ],
    [
      "does not end",
      async (_request, response) => {
        response.head(200, []);
        await response.write("part");
      },
    ],
    [
      "writes less than it declared",
      async (_request, response) => {
        response.head(200, ["content-length", "5"]);
        await response.write("part");
        response.end();
      },
    ],
    [
      "writes more than it declared",
      async (_request, response) => {
        response.head(200, ["content-length", "5"]);
        await response.write("part");
        await response.write("part");
        response.end();
      },
    ],
  ])("that %s after its head is cut, not passed off as whole", async (_name, answer) => {
    await using stage = await start(answer);
    const client = await Wire.to(stage.port);
    const text = await client.send(GET).end();
    expect(text).not.toMatch(/\r\n0\r\n|partpart/);
    expect(await ask(stage, "GET")).toMatchObject({ status: 200, broken: true });
    await stage.settled();
    expect(stage.outcomes).toEqual(Array(2).fill({ status: 200, end: "broken" }));
  });

  test("that is late is refused, and so is a body that stands still", async () => {
    await using late = await start(
      ({ signal }) => once(signal, "abort").then(() => undefined),
      {},
      { deadlines: { response: 50 } },
    );
    expect(await ask(late, "GET")).toMatchObject({ status: 504, code: "EK_FORWARD_TOO_SLOW" });
    await using slow = await start(echo, {}, { deadlines: { idle: 50 } });
    const client = await Wire.to(slow.port);
    await client.send(`${post(5)}ab`).until(/^HTTP\/1\.1 408 [^]*EK_FORWARD_BODY_TOO_SLOW/);
    client.socket.destroy();
    await late.settled();
    await slow.settled();
  });

  test("is waited for by a drain, and cut at its deadline", async () => {
    const ends: (() => void)[] = [];
    await using stage = await start(async ({ signal }, response) => {
      response.head(200, []);
      await response.write("begun");
      await Promise.race([new Promise<void>((resolve) => ends.push(resolve)), once(signal, "abort")]);
      response.end();
    });
    const first = await Wire.to(stage.port);
    await first.send(GET).until("begun");
    const second = await Wire.to(stage.port);
    await second.send(GET).until("begun");
    expect(stage.forwarder.counts().exchanges).toBe(2);
    const drained = stage.forwarder.drain(AbortSignal.timeout(300));
    ends[0]?.();
    expect(await first.end()).toMatch(/\r\n0\r\n\r\n$/);
    expect(await drained).toBe(1);
    expect(await second.end()).not.toMatch(/\r\n0\r\n/);
    await stage.settled({ exchanges: 0, clientSockets: 0, timers: 0 });
  });
});
