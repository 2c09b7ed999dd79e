import { describe, expect, test } from "@jest/globals";
import { HttpServer } from "@evenkeel/runtime";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { type ClientError, createChannel, createClient, Metadata, Status } from "nice-grpc";
import { HealthDefinition } from "nice-grpc-server-health";
import { ServerReflectionService } from "nice-grpc-server-reflection";
import { ServerReflectionRequest } from "nice-grpc-server-reflection/lib/proto/grpc/reflection/v1/reflection_pb.js";
import { ResolverDefinition } from "../generated/evenkeel/resolver/v1/resolver.ts";
import { ExternalScalerDefinition } from "../generated/externalscaler/externalscaler.ts";
import { RECHECK } from "../server/bound-service.ts";
import type { RpcServerOptions } from "../server/rpc-server.ts";
import type { Served } from "../server/served.ts";
import { any, read, resolver, startServer } from "../testing/rpc-world.ts";
import type { AccessObject, Authorization, Authorizer } from "./authorizer.ts";
import { type ReadAccess, ReadCheck } from "./read-access.ts";

const objects = [{ group: "elasti.truefoundry.com", resource: "elastiservices" }];
const scaled = { namespace: "shop", name: "checkout", scalerMetadata: {} };

/** Knows `shop`, who may read the namespace shop until the right is taken away. */
class Rights implements Authorizer {
  allowed = true;
  asked = 0;
  /** Resolved, it lets the answers out. */
  open: Promise<unknown> = Promise.resolve();

  async authorize(token: string, _verb: string, { namespace }: AccessObject): Promise<Authorization> {
    this.asked += 1;
    await this.open;
    return token === "shop" ? { allowed: this.allowed && namespace === "shop", user: token } : { allowed: false };
  }
}

/** KEDA's scaler, which is open to anyone. */
function scaler(): Served<ExternalScalerDefinition> {
  const specs = { metricSpecs: [] };
  return {
    definition: ExternalScalerDefinition,
    implementation: {
      isActive: () => Promise.resolve({ result: true }),
      streamIsActive: async function* () {
        yield await Promise.resolve({ result: true });
      },
      getMetricSpec: () => Promise.resolve(specs),
      getMetrics: () => Promise.resolve({ metricValues: [] }),
      streamMetricSpec: async function* () {
        yield await Promise.resolve(specs);
      },
    },
    access: {
      isActive: "anyone",
      streamIsActive: "anyone",
      getMetricSpec: "anyone",
      getMetrics: "anyone",
      streamMetricSpec: "anyone",
    },
  };
}

/** Both ports of a service, with clients. */
async function ports(reads: ReadAccess["reads"], options: Partial<RpcServerOptions> = {}) {
  const rights = new Rights();
  const running = await startServer([any(resolver()), any(scaler())], { authorizer: rights, ...options });
  const http = new HttpServer({ name: "admin", host: "127.0.0.1", port: 0, flag: "admin-port" });
  http.routes.get("/api/v1/Runtime/Status", () => ({}));
  running.server.serveJson(http.routes, { reads, objects });
  await http.start();
  const channel = createChannel(running.address);
  const json = (path: string, token?: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${http.port}/api/v1/${path}`, {
      ...init,
      headers: { "content-type": "application/json", ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    });
  const dispose = async () => {
    channel.close();
    await running.stop();
    await http.stop(AbortSignal.timeout(100));
  };
  const grpc = createClient(ResolverDefinition, channel);
  const openStreams = async () => /kind="stream"} (\d+)/.exec(await running.registry.text())?.[1];
  return { rights, grpc, json, channel, openStreams, [Symbol.asyncDispose]: dispose };
}

const bearer = (token: string) => ({ metadata: Metadata({ authorization: `Bearer ${token}` }) });

async function statusOf(call: Promise<unknown>): Promise<Status> {
  return call.then(
    () => Status.OK,
    (error: unknown) => (error as ClientError).code,
  );
}

test("a kind without namespaces is checked without one, whatever the service watches or the request names", async () => {
  const asked: (readonly [string, AccessObject])[] = [];
  const authorizer: Authorizer = {
    authorize: (_token, verb, object) => {
      asked.push([verb, object]);
      return Promise.resolve({ allowed: true, user: "reader" });
    },
  };
  const policies = { group: "rebalancer.dev", resource: "rebalancepolicies" };
  const access: ReadAccess = {
    ...{ reads: "token", namespaces: ["shop", "bank"] },
    objects: [{ ...policies, namespaced: false }],
  };
  const check = new ReadCheck(access, authorizer);
  const { signal } = new AbortController();
  await check.check("Plan", "Bearer reader", {}, signal);
  await check.check("Explain", "Bearer reader", { namespace: "shop", name: "press-1" }, signal);
  expect(asked).toEqual([
    ["list", policies],
    ["list", policies],
  ]);
});

describe("where reads need a token, gRPC", () => {
  test("checks the token of a call", async () => {
    await using port = await ports("token");
    const ask = (namespace: string, token?: string) =>
      statusOf(port.grpc.activity({ namespace }, token === undefined ? {} : bearer(token)));
    expect(await ask("shop")).toBe(Status.UNAUTHENTICATED);
    expect(await ask("shop", "unknown")).toBe(Status.UNAUTHENTICATED);
    expect(await ask("bank", "shop")).toBe(Status.PERMISSION_DENIED);
    expect(await ask("", "shop")).toBe(Status.PERMISSION_DENIED);
    expect(await ask("shop", "shop")).toBe(Status.OK);
  });

  test("checks the token of a stream", async () => {
    await using port = await ports("token");
    const first = (token: string) =>
      statusOf(port.grpc.watch({ namespace: "shop" }, bearer(token))[Symbol.asyncIterator]().next());
    expect(await first("unknown")).toBe(Status.UNAUTHENTICATED);
    expect(await first("shop")).toBe(Status.OK);
  });

  test("needs none for health, reflection and what is open to anyone", async () => {
    await using port = await ports("token");
    const { channel } = port;
    expect(await statusOf(createClient(HealthDefinition, channel).check({ service: "" }))).toBe(Status.OK);
    const reflection = createClient(ServerReflectionService, channel);
    const requests = (async function* () {
      yield await Promise.resolve(new ServerReflectionRequest().setListServices("*"));
    })();
    expect(await statusOf(read(reflection.serverReflectionInfo(requests), () => undefined))).toBe(Status.OK);
    const keda = createClient(ExternalScalerDefinition, channel);
    expect(await statusOf(keda.isActive(scaled))).toBe(Status.OK);
    expect(await statusOf(read(keda.streamIsActive(scaled), () => undefined))).toBe(Status.OK);
    expect(port.rights.asked).toBe(0);
  });

  test("alone serves what is open to anyone", async () => {
    const init = { method: "POST", body: JSON.stringify(scaled) };
    await using open = await ports("open");
    expect((await open.json("ExternalScaler/IsActive", undefined, init)).status).toBe(200);
    await using port = await ports("token");
    for (const method of ["IsActive", "StreamIsActive", "GetMetricSpec", "GetMetrics", "StreamMetricSpec"]) {
      const answer = await port.json(`ExternalScaler/${method}`, "shop", init);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: "EK_RPC_NO_SUCH_METHOD" });
    }
  });
});

test("checks of tokens count against the limits of calls and streams", async () => {
  await using port = await ports("token", { limits: { message: 65_536, calls: 1, streams: 1 } });
  const { rights, grpc, json } = port;
  const answers = Promise.withResolvers<undefined>();
  rights.open = answers.promise;
  const waiting = [json("Resolver/Activity?namespace=shop", "shop"), json("Resolver/Watch?namespace=shop", "shop")];
  await eventually(() => rights.asked === 2);

  expect(await statusOf(grpc.activity({}, bearer("random-1")))).toBe(Status.RESOURCE_EXHAUSTED);
  expect(await statusOf(read(grpc.watch({}, bearer("random-2")), () => undefined))).toBe(Status.RESOURCE_EXHAUSTED);
  for (const path of ["Resolver/Activity", "Resolver/Watch", "Runtime/Status"]) {
    const answer = await json(path, "random-3");
    expect([path, answer.status, await answer.json()]).toMatchObject([path, 429, { code: "EK_RPC_TOO_BUSY" }]);
  }
  expect(rights.asked).toBe(2);

  answers.resolve(undefined);
  const [activity, watch] = await Promise.all(waiting);
  expect([activity?.status, watch?.status]).toEqual([200, 200]);
});

describe("a stream of a reader who loses the right", () => {
  test("ends over gRPC", async () => {
    const clock = new FakeClock();
    await using port = await ports("token", { clock });
    let seen = 0;
    const ended = statusOf(read(port.grpc.watch({ namespace: "shop" }, bearer("shop")), () => (seen += 1)));
    await eventually(() => seen === 1 && clock.pending === 1);
    await clock.advance(RECHECK);
    expect([port.rights.asked, clock.pending]).toEqual([2, 1]);
    port.rights.allowed = false;
    await clock.advance(RECHECK);
    expect(await ended).toBe(Status.PERMISSION_DENIED);
    await eventually(async () => (await port.openStreams()) === "0");
    expect(clock.pending).toBe(0);
  });

  test("ends as JSON with the error", async () => {
    const clock = new FakeClock();
    await using port = await ports("token", { clock });
    const response = await port.json("Resolver/Watch?namespace=shop", "shop");
    const text = response.text();
    // Those of the heartbeat and of the check.
    await eventually(() => clock.pending === 2);
    port.rights.allowed = false;
    await clock.advance(RECHECK);
    expect(await text).toMatch(/\nevent: error\ndata: \{"code":"EK_RPC_FORBIDDEN".*\n\n$/);
    expect([await port.openStreams(), clock.pending]).toEqual(["0", 0]);
  });
});

test("a reader who leaves while the token is checked leaves no stream behind", async () => {
  await using port = await ports("token");
  const answers = Promise.withResolvers<undefined>();
  port.rights.open = answers.promise;
  const leaving = new AbortController();
  const left = port.json("Resolver/Watch?namespace=shop", "shop", { signal: leaving.signal }).catch(() => "left");
  await eventually(() => port.rights.asked === 1);
  expect(await port.openStreams()).toBe("1");
  leaving.abort();
  expect(await left).toBe("left");
  answers.resolve(undefined);
  await eventually(async () => (await port.openStreams()) === "0");
});
