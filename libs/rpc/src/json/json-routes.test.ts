import { describe, expect, test } from "@jest/globals";
import { Decisions, type Decider, HttpServer, type Snapshot } from "@evenkeel/runtime";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { MetricRegistry } from "@evenkeel/metrics";
import type { Authorizer } from "../auth/authorizer.ts";
import { decisionsService } from "../decisions/decisions-service.ts";
import { State } from "../generated/evenkeel/resolver/v1/resolver.ts";
import type { RpcServerOptions } from "../server/rpc-server.ts";
import type { Served } from "../server/served.ts";
import { any, endless, rememberedLog, resolver, startServer } from "../testing/rpc-world.ts";
import { HEARTBEAT } from "./event-stream.ts";

interface Level extends Snapshot {
  readonly level: number | null;
}

const decider: Decider<Level> = {
  actions: ["fill", "hold"],
  reasons: ["Low", "NoData"],
  decide: ({ level }) => ({
    object: { kind: "Tank", namespace: "ship", name: "fore" },
    ...(level === null
      ? { action: "hold", reason: "NoData", before: null, after: null, message: "unknown" }
      : { action: "fill", reason: "Low", before: level, after: { percent: 50 }, message: `from ${level}` }),
  }),
};

function sampleDecisions() {
  const { log } = rememberedLog();
  const recorder = { count: 10, bytes: 100_000 };
  const decisions = new Decisions({
    service: "sample",
    version: "1",
    decider,
    dryRun: false,
    recorder,
    log,
    metrics: new MetricRegistry(),
  });
  const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
  return { decisions, decide: (level: number | null, second: number) => decisions.decide({ at: at(second), level }) };
}

/** Services behind a real HTTP server, until the test's end. */
async function serve(services: readonly Served<never>[], options: Partial<RpcServerOptions> = {}) {
  const running = await startServer(services, options);
  const http = new HttpServer({ name: "admin", host: "127.0.0.1", port: 0, flag: "admin-port" });
  running.server.serveJson(http.routes, { reads: "open", objects: [] });
  await http.start();
  const url = `http://127.0.0.1:${http.port}/api/v1`;
  const dispose = async () => {
    await running.stop();
    await http.stop(AbortSignal.timeout(100));
  };
  return { url, running, http, [Symbol.asyncDispose]: dispose };
}

async function get(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text || "null") as unknown };
}

function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
  return get(url, init);
}

/** The chunks of an event stream, as they come. */
async function* events(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body ?? []) {
    const parts = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split("\n\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

describe("Decisions", () => {
  test("List answers by GET and by POST with what was decided, the newest first", async () => {
    const { decisions, decide } = sampleDecisions();
    await using api = await serve([
      any(decisionsService({ source: decisions.ring, recording: (id) => decisions.recording(id) })),
    ]);
    expect((await get(`${api.url}/Decisions/List`)).json).toEqual({ decisions: [] });
    const first = decide(3, 1);
    const second = decide(null, 2);
    const listed = {
      decisions: [
        { ...second, at: "2026-01-01T00:00:02Z" },
        { ...first, at: "2026-01-01T00:00:01Z" },
      ],
    };
    const answer = await get(`${api.url}/Decisions/List`);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(answer.json).toEqual(listed);
    expect((await post(`${api.url}/Decisions/List`, {})).json).toEqual(listed);
    expect((await get(`${api.url}/Decisions/List?limit=1`)).json).toEqual({ decisions: [listed.decisions[0]] });
    expect((await get(`${api.url}/Decisions/List?object=Tank/ship/fore&reason=Low`)).json).toEqual({
      decisions: [listed.decisions[1]],
    });
    expect((await get(`${api.url}/Decisions/List?action=none`)).json).toEqual({ decisions: [] });
  });

  test("Snapshot gives the recording as a file, and says by a code that it is gone", async () => {
    const { decisions, decide } = sampleDecisions();
    await using api = await serve([
      any(decisionsService({ source: decisions.ring, recording: (id) => decisions.recording(id) })),
    ]);
    const { id } = decide(3, 1);
    const file = await get(`${api.url}/Decisions/Snapshot?id=${id}`);
    expect(file.text).toBe(decisions.recording(id));
    expect(file.headers.get("content-disposition")).toBe(`attachment; filename="${id}.json"`);
    expect(file.headers.get("content-type")).toBe("application/json; charset=utf-8");
    const gone = await get(`${api.url}/Decisions/Snapshot?id=abc`);
    expect(gone).toMatchObject({ status: 404, json: { code: "EK_RUNTIME_NO_RECORDING" } });
    expect(await get(`${api.url}/Decisions/Snapshot?id=../etc`)).toMatchObject({
      status: 400,
      json: { code: "EK_RPC_BAD_REQUEST" },
    });
    expect(await get(`${api.url}/Decisions/Snapshot`)).toMatchObject({ status: 400 });
  });

  test("Explain gives the decision that holds and those before it", async () => {
    const { decisions, decide } = sampleDecisions();
    await using api = await serve([
      any(decisionsService({ source: decisions.ring, recording: (id) => decisions.recording(id) })),
    ]);
    const first = decide(3, 1);
    const second = decide(null, 2);
    expect((await get(`${api.url}/Decisions/Explain?object=Tank/ship/fore`)).json).toMatchObject({
      decision: { id: second.id, reason: "NoData" },
      earlier: [{ id: first.id }],
      recorded: true,
    });
    expect(await get(`${api.url}/Decisions/Explain?object=Tank/x`)).toMatchObject({
      status: 404,
      json: { code: "EK_RPC_NOT_FOUND" },
    });
  });

  test("Watch gives the past and then the news, each once, as server-sent events", async () => {
    const { decisions, decide } = sampleDecisions();
    await using api = await serve([
      any(decisionsService({ source: decisions.ring, recording: (id) => decisions.recording(id) })),
    ]);
    const first = decide(3, 1);
    const second = decide(null, 2);
    const response = await fetch(`${api.url}/Decisions/Watch?last=10`);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const stream = events(response);
    const ids: unknown[] = [];
    for await (const event of stream) {
      if (event.startsWith(":")) continue;
      const { decision } = JSON.parse(event.slice("data: ".length)) as { decision: { id: string } };
      ids.push(decision.id);
      if (ids.length === 2) decide(7, 3);
      if (ids.length === 3) break;
    }
    expect(ids).toEqual([first.id, second.id, (await decisions.ring.list({}, 1))[0]?.id]);
  });
});

describe("requests", () => {
  test.each([
    ["an unknown field", "?colour=red", 400, "EK_RPC_BAD_REQUEST"],
    ["a number that is none", "?limit=many", 400, "EK_RPC_BAD_REQUEST"],
    ["a negative number", "?limit=-1", 400, "EK_RPC_BAD_REQUEST"],
    ["a number beyond the limit", "?limit=1001", 400, "EK_RPC_BAD_REQUEST"],
    ["a field given twice", "?limit=1&limit=2", 400, "EK_RPC_BAD_REQUEST"],
    ["a text without end", `?object=${"x".repeat(600)}`, 400, "EK_RPC_BAD_REQUEST"],
  ])("with %s are refused by GET", async (_name, query, status, code) => {
    const { decisions } = sampleDecisions();
    await using api = await serve([any(decisionsService({ source: decisions.ring, recording: () => undefined }))]);
    expect(await get(`${api.url}/Decisions/List${query}`)).toMatchObject({ status, json: { code } });
  });

  test.each([
    ["an unknown field", { colour: "red" }],
    ["a wrong type", { object: 5 }],
    ["a list instead of a message", []],
    ["a text instead of a message", "limit"],
    ["null for a number", { limit: "" }],
  ])("with %s are refused by POST", async (_name, body) => {
    const { decisions } = sampleDecisions();
    await using api = await serve([any(decisionsService({ source: decisions.ring, recording: () => undefined }))]);
    expect(await post(`${api.url}/Decisions/List`, body)).toMatchObject({
      status: 400,
      json: { code: "EK_RPC_BAD_REQUEST" },
    });
  });

  test("for what nobody serves are answered with a code", async () => {
    await using api = await serve([any(resolver())]);
    expect(await get(`${api.url}/Resolver/Explode`)).toMatchObject({
      status: 404,
      json: { code: "EK_RPC_NO_SUCH_METHOD" },
    });
    expect(await get(`${api.url}/__proto__/toString`)).toMatchObject({ status: 404 });
  });

  test("that fail inside tell nothing of it", async () => {
    await using api = await serve([any(resolver({ activity: () => Promise.reject(new Error("password=hunter2")) }))]);
    const { status, json } = await get(`${api.url}/Resolver/Activity`);
    expect({ status, json }).toEqual({
      status: 500,
      json: { code: "INTERNAL", message: expect.not.stringMatching(/password|hunter2/) },
    });
  });

  test("are answered in full: zeros and enums by name, 64-bit numbers as text, what is absent left out", async () => {
    const activity = () =>
      Promise.resolve({ services: [{ service: { name: "checkout" }, state: State.STATE_GUARD, pending: 2n ** 60n }] });
    await using api = await serve([any(resolver({ activity }))]);
    expect((await get(`${api.url}/Resolver/Activity`)).json).toEqual({
      services: [
        {
          service: { namespace: "", name: "checkout" },
          state: "STATE_GUARD",
          pending: "1152921504606846976",
          inFlight: "0",
          reason: "",
          message: "",
          elastiService: "",
          target: "",
          activityUnknown: false,
          dryRun: false,
          paused: false,
          conditions: [],
          resolvers: [],
          activityGap: "",
        },
      ],
    });
  });
});

describe("methods that change something", () => {
  const asked: unknown[] = [];
  const authorizer: Authorizer = {
    authorize: (token, verb, object) => {
      asked.push({ token, verb, object });
      if (token === "broken") return Promise.reject(new Error("the API server is away"));
      if (token === "nobody") return Promise.resolve({ allowed: false });
      return Promise.resolve({ allowed: token === "planner", user: token });
    },
  };
  const checkout = { service: { namespace: "shop", name: "checkout" } };

  test.each([
    ["no token", {}, 401, { code: "EK_RPC_UNAUTHENTICATED" }],
    ["another scheme", { authorization: "Basic cGxhbm5lcg==" }, 401, { code: "EK_RPC_UNAUTHENTICATED" }],
    ["a token of nobody", { authorization: "Bearer nobody" }, 401, { code: "EK_RPC_UNAUTHENTICATED" }],
    [
      "a user without the right",
      { authorization: "Bearer guest" },
      403,
      { code: "EK_RPC_FORBIDDEN", message: "guest may not wake elastiservices.elasti.truefoundry.com shop/checkout" },
    ],
    ["rights that cannot be checked", { authorization: "Bearer broken" }, 503, { code: "EK_RPC_CANNOT_AUTHORIZE" }],
    ["a user with the right", { authorization: "Bearer planner" }, 200, { woken: true, state: "STATE_WAKE" }],
  ])("answer to %s as they should", async (_name, headers: Record<string, string>, status, json) => {
    await using api = await serve([any(resolver())], { authorizer });
    expect(await post(`${api.url}/Resolver/Wake`, checkout, headers)).toMatchObject({ status, json });
  });

  test("ask for the verb on the very object", async () => {
    await using api = await serve([any(resolver())], { authorizer });
    await post(`${api.url}/Resolver/Wake`, checkout, { authorization: "bearer planner" });
    expect(asked.at(-1)).toEqual({
      token: "planner",
      verb: "wake",
      object: { group: "elasti.truefoundry.com", resource: "elastiservices", namespace: "shop", name: "checkout" },
    });
  });

  test("are not called by GET, and are refused where nothing can check rights", async () => {
    await using api = await serve([any(resolver())]);
    const byGet = await get(`${api.url}/Resolver/Wake`);
    expect(byGet).toMatchObject({ status: 405, json: { code: "EK_RPC_NEEDS_POST" } });
    expect(byGet.headers.get("allow")).toBe("POST");
    const unchecked = await post(`${api.url}/Resolver/Wake`, checkout, { authorization: "Bearer planner" });
    expect(unchecked).toMatchObject({ status: 503, json: { code: "EK_RPC_CANNOT_AUTHORIZE" } });
  });
});

describe("event streams", () => {
  test("end the call when the reader leaves", async () => {
    await using api = await serve([any(resolver({ watch: () => endless() }))]);
    const leaving = new AbortController();
    const response = await fetch(`${api.url}/Resolver/Watch`, { signal: leaving.signal });
    for await (const event of events(response)) if (event.startsWith("data")) break;
    leaving.abort();
    await eventually(async () =>
      (await api.running.registry.text()).includes('evenkeel_rpc_open_calls{kind="stream"} 0'),
    );
  });

  test("end with `end` when the process drains, so that the server can close", async () => {
    await using api = await serve([any(resolver({ watch: () => endless() }))]);
    const seen: string[] = [];
    for await (const event of events(await fetch(`${api.url}/Resolver/Watch`))) {
      seen.push(event);
      if (event.startsWith("data")) void api.running.server.drain(new AbortController().signal);
    }
    expect(seen).toEqual([
      ": open",
      'data: {"removed":{"namespace":"shop","name":"checkout"}}',
      "event: end\ndata: {}",
    ]);
    await expect(api.http.drain(AbortSignal.timeout(5000))).resolves.toBe(0);
  });

  test("say that they live while nothing happens", async () => {
    const clock = new FakeClock();
    await using api = await serve([any(resolver({ watch: () => endless() }))], { clock });
    const seen: string[] = [];
    for await (const event of events(await fetch(`${api.url}/Resolver/Watch`))) {
      seen.push(event);
      if (seen.length === 4) break;
      if (seen.length > 1) {
        await eventually(() => clock.pending > 0);
        await clock.advance(HEARTBEAT);
      }
    }
    expect(seen.slice(2)).toEqual([": alive", ": alive"]);
  });

  test("end with the error that ended the source", async () => {
    const { decisions } = sampleDecisions();
    await using api = await serve([any(decisionsService({ source: decisions.ring, recording: () => undefined }))]);
    const { text } = await fetch(`${api.url}/Decisions/Watch?last=2000`).then(async (response) => ({
      text: await response.text(),
    }));
    expect(text).toContain('event: error\ndata: {"code":"EK_RPC_BAD_REQUEST"');
  });

  test("of a reader that does not read hold the source back", async () => {
    let sent = 0;
    const watch = async function* () {
      for (;;) {
        sent += 1;
        yield { event: { $case: "removed" as const, value: { namespace: "x".repeat(10_000), name: "y" } } };
        await Promise.resolve();
      }
    };
    await using api = await serve([any(resolver({ watch }))]);
    const leaving = new AbortController();
    const response = await fetch(`${api.url}/Resolver/Watch`, { signal: leaving.signal });
    let before = -1;
    await eventually(
      () => {
        const stopped = sent === before && sent > 0;
        before = sent;
        return stopped;
      },
      undefined,
      100,
    );
    expect(sent).toBeLessThan(3000);
    expect(response.status).toBe(200);
    leaving.abort();
    await eventually(async () =>
      (await api.running.registry.text()).includes('evenkeel_rpc_open_calls{kind="stream"} 0'),
    );
  });
});
