import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { createFileRegistry, create, fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Client, credentials } from "@grpc/grpc-js";
import { defineError } from "@evenkeel/runtime";
import { eventually } from "@evenkeel/runtime/testing";
import { createChannel, createClient, type ClientError, type Metadata, ServerError, Status } from "nice-grpc";
import { HealthDefinition } from "nice-grpc-server-health";
import { ServerReflectionService } from "nice-grpc-server-reflection";
import { ServerReflectionRequest } from "nice-grpc-server-reflection/lib/proto/grpc/reflection/v1/reflection_pb.js";
import { ResolverDefinition, State } from "../generated/evenkeel/resolver/v1/resolver.ts";
import { CODE_TRAILER } from "../status.ts";
import { any, endless, read, resolver, type Running, startServer } from "../testing/rpc-world.ts";

function clientOf({ address }: Running) {
  const channel = createChannel(address);
  const client = createClient(ResolverDefinition, channel);
  return { client, channel, [Symbol.dispose]: () => channel.close() };
}

async function failureOf(call: Promise<unknown>): Promise<ClientError> {
  return call.then(
    () => {
      throw new Error("the call succeeded");
    },
    (error: unknown) => error as ClientError,
  );
}

const Asleep = defineError({
  code: "EK_SAMPLE_ASLEEP",
  recovery: "terminal",
  message: "{name} is asleep",
  remedy: "Wake it.",
});
const Away = defineError({ code: "EK_SAMPLE_AWAY", recovery: "retryable", message: "{name} is away", remedy: "Wait." });

describe("errors", () => {
  test.each([
    [
      "a terminal coded error",
      new Asleep({ name: "checkout" }),
      Status.FAILED_PRECONDITION,
      "checkout is asleep",
      "EK_SAMPLE_ASLEEP",
    ],
    [
      "a retryable coded error",
      new Away({ name: "checkout" }),
      Status.UNAVAILABLE,
      "checkout is away",
      "EK_SAMPLE_AWAY",
    ],
    [
      "a status that the service chose",
      new ServerError(Status.OUT_OF_RANGE, "too far"),
      Status.OUT_OF_RANGE,
      "too far",
      undefined,
    ],
    ["a defect", new Error("password=hunter2"), Status.INTERNAL, "internal error; see the log", undefined],
  ])("%s reaches the caller as its status, message and code", async (_name, error, status, details, code) => {
    await using running = await startServer([any(resolver({ activity: () => Promise.reject(error) }))]);
    using sample = clientOf(running);
    const trailers: Metadata[] = [];
    const failure = await failureOf(sample.client.activity({}, { onTrailer: (trailer) => trailers.push(trailer) }));
    expect({ code: failure.code, details: failure.details }).toEqual({ code: status, details });
    expect(trailers.at(-1)?.get(CODE_TRAILER)).toBe(code);
  });

  test("a defect is logged with its method and not told to the caller", async () => {
    await using running = await startServer([
      any(resolver({ activity: () => Promise.reject(new TypeError("x is undefined")) })),
    ]);
    using sample = clientOf(running);
    const failure = await failureOf(sample.client.activity({}));
    expect(failure.details).not.toContain("undefined");
    const line = running.lines.find(({ method }) => method === "evenkeel.resolver.v1.Resolver/Activity");
    expect(JSON.stringify(line)).toContain("x is undefined");
  });

  test("a service's own table decides the status of its coded errors", async () => {
    const service = {
      ...resolver({ activity: () => Promise.reject(new Asleep({ name: "a" })) }),
      statuses: { EK_SAMPLE_ASLEEP: Status.ABORTED },
    };
    await using running = await startServer([any(service)]);
    using sample = clientOf(running);
    expect((await failureOf(sample.client.activity({}))).code).toBe(Status.ABORTED);
  });

  test("an error in the middle of a stream ends it with its status after what was sent", async () => {
    const watch = async function* () {
      yield* [{}, {}];
      await Promise.resolve();
      throw new Asleep({ name: "checkout" });
    };
    await using running = await startServer([any(resolver({ watch }))]);
    using sample = clientOf(running);
    let received = 0;
    const reading = read(sample.client.watch({}), () => (received += 1));
    expect((await failureOf(reading)).code).toBe(Status.FAILED_PRECONDITION);
    expect(received).toBe(2);
  });
});

describe("limits", () => {
  test("a message larger than the limit is refused with RESOURCE_EXHAUSTED and the connection goes on", async () => {
    await using running = await startServer([any(resolver())], { limits: { message: 1024, calls: 10, streams: 10 } });
    using sample = clientOf(running);
    const failure = await failureOf(sample.client.activity({ name: "x".repeat(2048) }));
    expect(failure.code).toBe(Status.RESOURCE_EXHAUSTED);
    await expect(sample.client.activity({ name: "x" })).resolves.toBeDefined();
  });

  test("calls beyond the limit are refused with RESOURCE_EXHAUSTED, and taken again once others end", async () => {
    const gate = Promise.withResolvers<object>();
    const service = resolver({ activity: () => gate.promise });
    await using running = await startServer([any(service)], { limits: { message: 1024, calls: 3, streams: 1 } });
    using sample = clientOf(running);
    const held = [1, 2, 3].map(() => sample.client.activity({}));
    await eventually(async () => (await running.registry.text()).includes('evenkeel_rpc_open_calls{kind="unary"} 3'));
    const failure = await failureOf(sample.client.activity({}));
    expect(failure.code).toBe(Status.RESOURCE_EXHAUSTED);
    expect(failure.details).toMatch(/\b3\b.*calls/);
    gate.resolve({});
    await Promise.all(held);
    await expect(sample.client.activity({})).resolves.toBeDefined();
  });

  test("streams have a limit of their own, and health is answered beyond it", async () => {
    await using running = await startServer([any(resolver())], { limits: { message: 1024, calls: 1, streams: 2 } });
    using sample = clientOf(running);
    const iterators = [1, 2].map(() => sample.client.watch({})[Symbol.asyncIterator]());
    await Promise.all(iterators.map((iterator) => iterator.next()));
    const third = sample.client.watch({})[Symbol.asyncIterator]();
    expect((await failureOf(third.next())).code).toBe(Status.RESOURCE_EXHAUSTED);
    await expect(createClient(HealthDefinition, sample.channel).check({ service: "" })).resolves.toEqual({ status: 1 });
    await expect(sample.client.activity({})).resolves.toBeDefined();
    for (const iterator of iterators) await iterator.return?.();
  });

  test("bytes that are no message of the method are refused and the server goes on", async () => {
    await using running = await startServer([any(resolver())]);
    using sample = clientOf(running);
    const raw = new Client(running.address, credentials.createInsecure());
    const pass = (value: Buffer) => value;
    const code = await new Promise((resolve) => {
      const wrong = Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]);
      raw.makeUnaryRequest("/evenkeel.resolver.v1.Resolver/Activity", pass, pass, wrong, (error) =>
        resolve(error?.code),
      );
    });
    raw.close();
    expect(code).toBe(Status.INTERNAL);
    await expect(sample.client.activity({})).resolves.toBeDefined();
  });

  test("a method that nobody serves is UNIMPLEMENTED", async () => {
    await using running = await startServer([any(resolver())]);
    const raw = new Client(running.address, credentials.createInsecure());
    const pass = (value: Buffer) => value;
    const code = await new Promise((resolve) =>
      raw.makeUnaryRequest("/evenkeel.resolver.v1.Resolver/Explode", pass, pass, Buffer.alloc(0), (error) =>
        resolve(error?.code),
      ),
    );
    raw.close();
    expect(code).toBe(Status.UNIMPLEMENTED);
  });
});

test("a handler's signal aborts at the caller's deadline", async () => {
  const aborted = Promise.withResolvers<boolean>();
  const activity = (_request: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise<object>((resolve) =>
      signal.addEventListener("abort", () => {
        aborted.resolve(true);
        resolve({});
      }),
    );
  await using running = await startServer([any(resolver({ activity }))]);
  const raw = new Client(running.address, credentials.createInsecure());
  const pass = (value: Buffer) => value;
  const code = await new Promise((resolve) => {
    const options = { deadline: Date.now() + 1000 };
    raw.makeUnaryRequest("/evenkeel.resolver.v1.Resolver/Activity", pass, pass, Buffer.alloc(0), options, (error) =>
      resolve(error?.code),
    );
  });
  raw.close();
  expect(code).toBe(Status.DEADLINE_EXCEEDED);
  await expect(aborted.promise).resolves.toBe(true);
});

test("a handler's signal aborts when the caller leaves its stream, and the stream no longer counts", async () => {
  const signals: AbortSignal[] = [];
  const watch = (_request: unknown, { signal }: { signal: AbortSignal }) => {
    signals.push(signal);
    return endless();
  };
  await using running = await startServer([any(resolver({ watch }))]);
  using sample = clientOf(running);
  const stream = sample.client.watch({})[Symbol.asyncIterator]();
  await stream.next();
  await stream.return?.();
  await eventually(() => signals[0]?.aborted === true);
  await eventually(async () => (await running.registry.text()).includes('evenkeel_rpc_open_calls{kind="stream"} 0'));
  expect(await running.registry.text()).toContain('grpc_method="Watch",grpc_code="CANCELLED"} 1');
});

describe("drain", () => {
  test("ends streams with OK, lets calls with one answer finish, and takes no new ones", async () => {
    const gate = Promise.withResolvers<object>();
    await using running = await startServer([any(resolver({ activity: () => gate.promise }))]);
    using sample = clientOf(running);
    let received = 0;
    const streaming = read(sample.client.watch({}), () => (received += 1)).then(() => "ended");
    await eventually(() => received === 1);
    const call = sample.client.activity({});
    await eventually(async () => (await running.registry.text()).includes('evenkeel_rpc_open_calls{kind="unary"} 1'));

    const drained = running.server.drain(new AbortController().signal);
    await expect(streaming).resolves.toBe("ended");
    using late = clientOf(running);
    expect((await failureOf(late.client.preview({}))).code).toBe(Status.UNAVAILABLE);
    gate.resolve({});
    await expect(call).resolves.toEqual({ services: [] });
    await expect(drained).resolves.toBe(0);
    expect(await running.registry.text()).toContain('grpc_method="Watch",grpc_code="OK"} 1');
  });

  test("cuts what has not ended at the deadline and says how many", async () => {
    const never = () => new Promise<never>(() => undefined);
    await using running = await startServer([any(resolver({ activity: never }))]);
    using sample = clientOf(running);
    const calls = [1, 2].map(() => failureOf(sample.client.activity({})));
    await eventually(async () => (await running.registry.text()).includes('evenkeel_rpc_open_calls{kind="unary"} 2'));
    const deadline = new AbortController();
    const drained = running.server.drain(deadline.signal);
    deadline.abort();
    await expect(drained).resolves.toBe(2);
    for (const failure of await Promise.all(calls))
      expect([Status.CANCELLED, Status.UNAVAILABLE]).toContain(failure.code);
  });

  test("health says NOT_SERVING as soon as the process begins to stop, while calls are still taken", async () => {
    await using running = await startServer([any(resolver())]);
    using sample = clientOf(running);
    const health = createClient(HealthDefinition, sample.channel);
    const watching = health.watch({ service: ResolverDefinition.fullName })[Symbol.asyncIterator]();
    await expect(watching.next()).resolves.toEqual({ done: false, value: { status: 1 } });
    running.stopping.abort();
    await expect(watching.next()).resolves.toEqual({ done: false, value: { status: 2 } });
    await expect(health.check({ service: "" })).resolves.toEqual({ status: 2 });
    await expect(sample.client.activity({})).resolves.toBeDefined();
    const drained = running.server.drain(new AbortController().signal);
    await expect(watching.next()).resolves.toEqual({ done: true, value: undefined });
    await expect(drained).resolves.toBe(0);
  });
});

test("health knows the services that are served and no other", async () => {
  await using running = await startServer([any(resolver())]);
  using sample = clientOf(running);
  const health = createClient(HealthDefinition, sample.channel);
  await expect(health.check({ service: ResolverDefinition.fullName })).resolves.toEqual({ status: 1 });
  expect((await failureOf(health.check({ service: "nobody" }))).code).toBe(Status.NOT_FOUND);
});

test("a client that knows nothing but reflection can list the services and call one", async () => {
  const activity = () => Promise.resolve({ services: [{ state: State.STATE_ZERO, pending: 3n }] });
  await using running = await startServer([any(resolver({ activity }))]);
  using sample = clientOf(running);
  const reflection = createClient(ServerReflectionService, sample.channel);
  const ask = async (request: ServerReflectionRequest) => {
    for await (const response of reflection.serverReflectionInfo(Readable.from([request]))) return response;
    throw new Error("no answer");
  };
  const listed = await ask(new ServerReflectionRequest().setListServices(""));
  const names = listed
    .getListServicesResponse()
    ?.getServiceList()
    .map((service) => service.getName());
  expect(names).toEqual(["evenkeel.resolver.v1.Resolver", "grpc.health.v1.Health"]);

  const files = new Map<string, ReturnType<typeof readFile>>();
  const readFile = (bytes: Uint8Array) => fromBinary(FileDescriptorProtoSchema, bytes);
  const load = async (request: ServerReflectionRequest): Promise<void> => {
    const bytes = (await ask(request)).getFileDescriptorResponse()?.getFileDescriptorProtoList_asU8()[0];
    const file = readFile(bytes ?? new Uint8Array());
    for (const name of file.dependency)
      if (!files.has(name)) await load(new ServerReflectionRequest().setFileByFilename(name));
    files.set(file.name, file);
  };
  await load(new ServerReflectionRequest().setFileContainingSymbol("evenkeel.resolver.v1.Resolver"));
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [...files.values()] }));
  const method = registry.getService("evenkeel.resolver.v1.Resolver")?.methods.find(({ name }) => name === "Activity");
  if (!method) throw new Error("no such method");

  const raw = new Client(running.address, credentials.createInsecure());
  const pass = (value: Buffer) => value;
  const answer = await new Promise<Buffer | undefined>((resolve) => {
    const request = Buffer.from(toBinary(method.input, create(method.input)));
    raw.makeUnaryRequest("/evenkeel.resolver.v1.Resolver/Activity", pass, pass, request, (_error, response) =>
      resolve(response),
    );
  });
  raw.close();
  const json = toJson(method.output, fromBinary(method.output, answer ?? new Uint8Array()));
  expect(json).toEqual({ services: [{ state: "STATE_ZERO", pending: "3" }] });
});

test("a port that is taken is said with its flag", async () => {
  await using running = await startServer([]);
  await expect(startServer([], { port: running.server.port })).rejects.toMatchObject({
    code: "EK_RUNTIME_PORT_IN_USE",
  });
});

test("a method that may change something must say who may call it", async () => {
  const { definition, implementation } = resolver();
  await expect(startServer([any({ definition, implementation })])).rejects.toThrow(
    "evenkeel.resolver.v1.Resolver/Wake does not state",
  );
});
