import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  Client,
  credentials,
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { Duplex } from "node:stream";
import { eventually } from "@evenkeel/runtime/testing";
import type { Origin } from "../src/index.ts";
import { Stage } from "./parts/stage.ts";

const codec = {
  requestSerialize: (value: Buffer) => value,
  requestDeserialize: (value: Buffer) => value,
  responseSerialize: (value: Buffer) => value,
  responseDeserialize: (value: Buffer) => value,
};
const identity = (value: Buffer) => value;
const echo = {
  unary: { path: "/echo.Echo/Unary", requestStream: false, responseStream: false, ...codec },
  collect: { path: "/echo.Echo/Collect", requestStream: true, responseStream: false, ...codec },
  count: { path: "/echo.Echo/Count", requestStream: false, responseStream: true, ...codec },
  chat: { path: "/echo.Echo/Chat", requestStream: true, responseStream: true, ...codec },
} satisfies ServiceDefinition;

let server: Server;
let stage: Stage;
let client: Client;
let counting = 0;
let cancelled = 0;

const unary: handleUnaryCall<Buffer, Buffer> = (call, done) => {
  const text = call.request.toString();
  call.on("cancelled", () => (cancelled += 1));
  if (text === "fail") {
    const metadata = new Metadata();
    metadata.set("x-why", "asked for");
    done({ code: status.FAILED_PRECONDITION, details: "as you wished: 100 %", metadata });
  } else if (text !== "hang") {
    const trailer = new Metadata();
    trailer.set("x-tail", "t");
    done(null, Buffer.from(`${text} ${String(call.metadata.get("x-mine")[0])}`), trailer);
  }
};
const collect: handleClientStreamingCall<Buffer, Buffer> = (call, done) => {
  let sum = 0;
  call.on("data", (data: Buffer) => (sum += data.length));
  call.on("end", () => done(null, Buffer.from(String(sum))));
};
const count: handleServerStreamingCall<Buffer, Buffer> = (call) => {
  const most = Number(call.request.toString());
  counting += 1;
  call.on("cancelled", () => (cancelled += 1));
  if (most < 0) return;
  for (let index = 0; index < most; index++) call.write(Buffer.from(String(index)));
  call.end();
};
const chat: handleBidiStreamingCall<Buffer, Buffer> = (call) => {
  call.on("cancelled", () => (cancelled += 1));
  call.on("data", (data: Buffer) => call.write(Buffer.from(`re ${data.toString()}`)));
  call.on("end", () => call.end());
};

beforeAll(async () => {
  server = new Server({ "grpc.max_concurrent_streams": 20 });
  server.addService(echo, { unary, collect, count, chat });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  stage = await Stage.start({ origin: { host: "127.0.0.1", port, protocol: "h2c" } });
  client = new Client(`127.0.0.1:${stage.port}`, credentials.createInsecure());
});
afterAll(async () => {
  client.close();
  await stage[Symbol.asyncDispose]();
  server.forceShutdown();
});

function call(
  text: string,
  options: { deadline?: number } = {},
  through = client,
): Promise<{ text: string; tail: unknown }> {
  const metadata = new Metadata();
  metadata.set("x-mine", "m");
  return new Promise((resolve, reject) => {
    let tail: unknown;
    const asked = through.makeUnaryRequest(
      echo.unary.path,
      identity,
      identity,
      Buffer.from(text),
      metadata,
      options,
      (error, value) => {
        if (error) reject(error);
        else setImmediate(() => resolve({ text: String(value), tail }));
      },
    );
    asked.on("status", ({ metadata: trailers }) => (tail = trailers.get("x-tail")[0]));
  });
}

describe("gRPC through the forwarder", () => {
  test("carries a unary call with its metadata and trailers", async () => {
    expect(await call("hello")).toEqual({ text: "hello m", tail: "t" });
  });

  test("carries an error in trailers alone, with its details and metadata", async () => {
    const error = (await call("fail").catch((thrown: unknown) => thrown)) as ServiceError;
    expect([error.code, error.details, error.metadata.get("x-why")]).toEqual([
      status.FAILED_PRECONDITION,
      "as you wished: 100 %",
      ["asked for"],
    ]);
  });

  test("carries 200 calls at once over more sessions than one allows", async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => call(String(index))));
    expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 200 }, (_, index) => `${index} m`));
    await stage.settled();
  });

  test("carries a stream of the client", async () => {
    const sum = await new Promise<string>((resolve, reject) => {
      const asked = client.makeClientStreamRequest(echo.collect.path, identity, identity, (error, value) =>
        error ? reject(error) : resolve(String(value)),
      );
      for (let index = 0; index < 500; index++) asked.write(Buffer.alloc(4_096));
      asked.end();
    });
    expect(sum).toBe(String(500 * 4_096));
  });

  test("carries a stream of the server", async () => {
    const asked = client.makeServerStreamRequest(echo.count.path, identity, identity, Buffer.from("1000"));
    const got: string[] = [];
    for await (const data of asked) got.push(String(data));
    expect(got).toHaveLength(1000);
    expect(got.at(-1)).toBe("999");
  });

  test("carries streams both ways, message by message", async () => {
    const asked = client.makeBidiStreamRequest(echo.chat.path, identity, identity);
    const next = () => new Promise<string>((resolve) => asked.once("data", (data: Buffer) => resolve(data.toString())));
    for (let round = 0; round < 20; round++) {
      const answer = next();
      asked.write(Buffer.from(`message ${round}`));
      expect(await answer).toBe(`re message ${round}`);
    }
    const over = new Promise((resolve) => asked.once("status", resolve));
    asked.end();
    expect(await over).toMatchObject({ code: status.OK });
    await stage.settled();
  });

  test("lets the deadline of a call pass at both ends", async () => {
    const before = cancelled;
    await expect(call("hang", { deadline: Date.now() + 100 })).rejects.toMatchObject({
      code: status.DEADLINE_EXCEEDED,
    });
    await stage.settled();
    await eventually(() => cancelled === before + 1);
  });

  test("cancels at the server what the client cancels, in each kind of stream", async () => {
    for (const start of [
      () => client.makeServerStreamRequest(echo.count.path, identity, identity, Buffer.from("-1")),
      () => client.makeBidiStreamRequest(echo.chat.path, identity, identity),
    ]) {
      const before = cancelled;
      const counted = counting;
      const inFlight = stage.forwarder.counts().exchanges;
      const asked = start();
      asked.on("error", () => undefined);
      await eventually(() => stage.forwarder.counts().exchanges === inFlight + 1);
      if (asked instanceof Duplex) {
        const answer = new Promise((resolve) => asked.once("data", resolve));
        asked.write(Buffer.from("x"));
        await answer;
      } else await eventually(() => counting === counted + 1);
      asked.cancel();
      await eventually(() => cancelled === before + 1);
      await stage.settled();
    }
  });

  test("says UNAVAILABLE when nobody is there, and DEADLINE_EXCEEDED when its own deadline passes", async () => {
    const nowhere: Origin = { host: "127.0.0.1", port: 1, protocol: "h2c" };
    await using away = await Stage.start({ origin: nowhere });
    const through = new Client(`127.0.0.1:${away.port}`, credentials.createInsecure());
    await expect(call("x", {}, through)).rejects.toMatchObject({
      code: status.UNAVAILABLE,
      details: expect.stringContaining("EK_FORWARD_UNREACHABLE"),
    });
    through.close();
    const origin: Origin = { ...nowhere, port: Number(client.getChannel().getTarget().split(":").at(-1)) };
    await using slow = await Stage.start({ origin, deadlines: { response: 100 } });
    const hurried = new Client(`127.0.0.1:${slow.port}`, credentials.createInsecure());
    await expect(call("hang", {}, hurried)).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
    hurried.close();
  });
});
