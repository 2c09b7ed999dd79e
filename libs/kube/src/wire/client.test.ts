import { describe, expect, test } from "@jest/globals";
import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { MetricRegistry } from "@evenkeel/metrics";
import { CodedError } from "@evenkeel/runtime";
import { ActOvertaken, Timeout, TooManyRequests, Unreachable } from "../errors.ts";
import { configMaps, leases } from "../objects/resource-types.ts";
import { answerJson, ScriptedServer, statusBody } from "../testing/scripted-server.ts";
import { HurriedClock, testClient, TestFolder } from "../testing/test-client.ts";

const object = { metadata: { name: "a", namespace: "n", resourceVersion: "1" } };
const name = { namespace: "n", name: "a" };

async function failure(call: Promise<unknown>): Promise<CodedError> {
  return call.then(
    () => Promise.reject(new Error("the call succeeded")),
    (error: unknown) => (error instanceof CodedError ? error : Promise.reject(error as Error)),
  );
}

describe("connections", () => {
  test("200 calls at once and 200 more share four connections", async () => {
    await using server = await ScriptedServer.start((_, response) =>
      setImmediate(() => answerJson(response, 200, object)),
    );
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    const calls = () => Promise.all(Array.from({ length: 200 }, () => client.resource(configMaps).get(name)));
    await calls();
    await calls();
    expect(server.requests).toHaveLength(400);
    expect(server.connections).toBeLessThanOrEqual(4);
  });

  test("an urgent call works while every other connection is busy", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.url?.includes("leases") === true) answerJson(response, 200, object);
    });
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    const ended = new AbortController();
    const held = Array.from({ length: 8 }, () => client.resource(configMaps).get(name, { signal: ended.signal }));
    const outcomes = Promise.allSettled(held);
    await expect(client.resource(leases, { lane: "urgent" }).get(name)).resolves.toEqual(object);
    ended.abort();
    expect((await outcomes).every(({ status }) => status === "rejected")).toBe(true);
  });

  test("a port without a server is Unreachable, after retries with growing waits", async () => {
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    listener.close();
    await once(listener, "close");
    using folder = new TestFolder();
    const clock = new HurriedClock();
    await using client = testClient(folder.kubeconfig({ server: `http://127.0.0.1:${port}` }), { clock });
    const error = await failure(client.resource(configMaps).create(object));
    expect(error).toBeInstanceOf(Unreachable);
    expect(error.message).toMatch(
      new RegExp(`^create configmaps n/a at http://127.0.0.1:${port}: .*\\(ECONNREFUSED\\)$`),
    );
    expect(clock.waits).toEqual([100, 200, 400, 800, 1600, 3200, 5000]);
  });
});

describe("retries", () => {
  /** A server that responds with each of `answers` in turn and then with the object, or closes the connection. */
  async function serverWith(answers: ({ status: number; retryAfter?: string; body?: unknown } | "cut")[]) {
    const left = [...answers];
    return ScriptedServer.start((request, response) => {
      const answer = left.shift();
      if (answer === undefined) answerJson(response, 200, object);
      else if (answer === "cut") request.socket.destroy();
      else {
        const headers = answer.retryAfter === undefined ? {} : { "retry-after": answer.retryAfter };
        answerJson(response, answer.status, answer.body ?? {}, headers);
      }
    });
  }

  async function run(
    server: ScriptedServer,
    verb: "get" | "create" | "replace" | "merge" | "json" | "apply" | "delete",
  ) {
    using folder = new TestFolder();
    const clock = new HurriedClock();
    await using client = testClient(folder.kubeconfig({ server: server.url }), { clock });
    const resource = client.resource(configMaps);
    const calls = {
      get: () => resource.get(name),
      create: () => resource.create(object),
      replace: () => resource.replace(object),
      merge: () => resource.patch(name, { type: "merge", body: {} }),
      json: () => resource.patch(name, { type: "json", operations: [] }),
      apply: () => resource.apply(object, { fieldManager: "m" }),
      delete: () => resource.delete(name),
    };
    const outcome = await calls[verb]().then(
      () => "ok",
      (error: unknown) => (error as CodedError).code,
    );
    return { outcome, requests: server.requests.length, waits: clock.waits };
  }

  const flowControl = { status: 429, retryAfter: "2" };
  const blocked = {
    status: 429,
    body: statusBody(429, "TooManyRequests", "Cannot evict pod", {
      causes: [{ reason: "DisruptionBudget", message: "b" }],
    }),
  };

  test.each([
    ["get", [flowControl], "ok", 2, [2100]],
    ["create", [flowControl, flowControl], "ok", 3, [2100, 2200]],
    ["json", [flowControl], "ok", 2, [2100]],
    ["get", [{ status: 503 }], "ok", 2, [100]],
    ["get", [{ status: 500, retryAfter: "1" }], "ok", 2, [1100]],
    ["get", [{ status: 500 }], "EK_KUBE_SERVER_FAULT", 1, []],
    ["create", [{ status: 503, retryAfter: "1" }], "EK_KUBE_SERVER_UNAVAILABLE", 1, []],
    ["json", [{ status: 500 }], "EK_KUBE_SERVER_FAULT", 1, []],
    ["merge", [{ status: 504 }], "ok", 2, [100]],
    ["apply", [{ status: 503 }], "ok", 2, [100]],
    ["replace", [{ status: 503 }], "ok", 2, [100]],
    ["delete", [{ status: 503 }], "ok", 2, [100]],
    ["get", ["cut", "cut"], "ok", 3, [100, 200]],
    ["create", ["cut"], "EK_KUBE_CONNECTION_LOST", 1, []],
    ["create", [blocked], "EK_KUBE_EVICTION_BLOCKED", 1, []],
    ["get", [{ status: 404 }], "EK_KUBE_NOT_FOUND", 1, []],
    ["get", [{ status: 429, retryAfter: "60" }], "EK_KUBE_TOO_MANY_REQUESTS", 1, []],
  ] as const)("%s answered with %j ends as %s after %d requests", async (verb, answers, outcome, requests, waits) => {
    await using server = await serverWith([...answers]);
    expect(await run(server, verb)).toEqual({ outcome, requests, waits });
  });

  test("a server that is always overloaded is TooManyRequests after bounded retries", async () => {
    await using server = await serverWith(Array.from({ length: 20 }, () => ({ status: 429 })));
    expect(await run(server, "create")).toMatchObject({ outcome: TooManyRequests.entry.code, requests: 8 });
  });

  test("beforeSend runs before each attempt, and what it throws ends the call as it is", async () => {
    await using server = await serverWith([flowControl, flowControl]);
    using folder = new TestFolder();
    const clock = new HurriedClock();
    await using client = testClient(folder.kubeconfig({ server: server.url }), { clock });
    const overtaken = new ActOvertaken({ object: "n/a", why: "paused" });
    let looks = 0;
    const beforeSend = () => {
      looks += 1;
      if (looks === 2) throw overtaken;
    };
    await expect(client.resource(configMaps).create(object, { beforeSend })).rejects.toBe(overtaken);
    expect({ looks, requests: server.requests.length, waits: clock.waits }).toEqual({
      ...{ looks: 2, requests: 1, waits: [2100] },
    });
  });

  test("beforeSend runs after the wait for the rate limit", async () => {
    await using server = await serverWith([]);
    using folder = new TestFolder();
    const clock = new HurriedClock();
    const settings = { kubeQps: 1, kubeBurst: 1 };
    await using client = testClient(folder.kubeconfig({ server: server.url }), { clock, settings });
    await client.resource(configMaps).get(name);
    let waited = 0;
    await client.resource(configMaps).delete(name, { beforeSend: () => (waited = clock.waits.length) });
    expect(waited).toBe(1);
  });
});

describe("limits", () => {
  test("a call without a response ends at its deadline, and the next one uses a new connection", async () => {
    let silent = true;
    await using server = await ScriptedServer.start((_, response) => {
      if (!silent) answerJson(response, 200, object);
    });
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    const error = await failure(client.resource(configMaps).get(name, { deadline: 60 }));
    expect(error).toBeInstanceOf(Timeout);
    expect(error.message).toMatch(new RegExp(`^get configmaps n/a at ${server.url}: .*60 ms`));
    silent = false;
    await expect(client.resource(configMaps).get(name)).resolves.toEqual(object);
    expect(server.connections).toBe(2);
  });

  test("a response that stops half-way ends at the deadline too", async () => {
    await using server = await ScriptedServer.start((_, response) => {
      response.writeHead(200, { "content-length": "1000" }).write('{"metadata":');
    });
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    expect((await failure(client.resource(configMaps).get(name, { deadline: 60 }))).code).toBe("EK_KUBE_TIMEOUT");
  });

  test("an aborted call rejects with the reason of its signal", async () => {
    await using server = await ScriptedServer.start(() => undefined);
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    const ended = new AbortController();
    const call = client.resource(configMaps).get(name, { signal: ended.signal });
    ended.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
  });

  test("its own rate limit delays calls, but not urgent ones", async () => {
    await using server = await ScriptedServer.start((_, response) => answerJson(response, 200, object));
    using folder = new TestFolder();
    const clock = new HurriedClock();
    const settings = { kubeQps: 1, kubeBurst: 1 };
    await using client = testClient(folder.kubeconfig({ server: server.url }), { clock, settings });
    await client.resource(configMaps).get(name);
    await client.resource(leases, { lane: "urgent" }).get(name);
    expect(clock.waits).toEqual([]);
    await client.resource(configMaps).get(name);
    expect(clock.waits).toEqual([expect.closeTo(1000, -2)]);
  });
});

describe("responses", () => {
  test.each([
    ["a page of a proxy", "<html>sign in</html>", "<html>sign in</html>"],
    ["JSON that is no object", "[]", "metadata"],
    ["JSON that is cut short", '{"metadata":{', '{"metadata":{'],
  ])("%s is BadResponse", async (_, body, named) => {
    await using server = await ScriptedServer.start((_request, response) => response.end(body));
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    const error = await failure(client.resource(configMaps).create(object));
    expect(error.code).toBe("EK_KUBE_BAD_RESPONSE");
    expect(error.message).toContain(`create configmaps n/a at ${server.url}: `);
    expect(error.message).toContain(named);
  });

  test("list items have the type that the server omits", async () => {
    const list = { kind: "ConfigMapList", metadata: { resourceVersion: "5" }, items: [object] };
    await using server = await ScriptedServer.start((_, response) => answerJson(response, 200, list));
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    const { items } = await client.resource(configMaps).list();
    expect(items).toEqual([{ ...object, apiVersion: "v1", kind: "ConfigMap" }]);
  });

  test("discovery distinguishes known and unknown types", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.url === "/api/v1") answerJson(response, 200, { resources: [{ name: "configmaps" }] });
      else answerJson(response, 404, statusBody(404, "NotFound", "no"));
    });
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    expect(await client.serves(configMaps)).toBe(true);
    expect(await client.serves(leases)).toBe(false);
  });

  test("start reads the version, and ignores what vendors add to it", async () => {
    const version = { major: "1", minor: "31+", gitVersion: "v1.31.4-eks" };
    await using server = await ScriptedServer.start((_, response) => answerJson(response, 200, version));
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    await client.start({ signal: new AbortController().signal });
    expect(await client.version()).toEqual({ major: 1, minor: 31, text: "v1.31.4-eks" });
  });

  test("requests and retries are counted by verb and code", async () => {
    let busy = true;
    await using server = await ScriptedServer.start((_, response) => {
      answerJson(response, busy ? 503 : 200, object);
      busy = false;
    });
    using folder = new TestFolder();
    const metrics = new MetricRegistry();
    const clock = new HurriedClock();
    await using client = testClient(folder.kubeconfig({ server: server.url }), { clock, metrics });
    await client.resource(configMaps).get(name);
    const text = await metrics.text();
    expect(text).toContain('rest_client_requests_total{verb="get",code="503"} 1');
    expect(text).toContain('rest_client_requests_total{verb="get",code="200"} 1');
    expect(text).toContain('rest_client_request_retries_total{verb="get",code="503"} 1');
    expect(text).toContain('rest_client_request_duration_seconds_count{verb="get"} 2');
  });

  test.each(["", ".", "..", "a/b", "a%2fb"])("an object cannot be called %j", async (bad) => {
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: "http://127.0.0.1:1" }));
    const error = await failure(client.resource(configMaps).get({ namespace: "n", name: bad }));
    expect(error.code).toBe("EK_KUBE_BAD_NAME");
  });

  test("an object of a namespaced type needs a namespace", async () => {
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: "http://127.0.0.1:1" }));
    const error = await failure(client.resource(configMaps).create({ metadata: { name: "a" } }));
    expect(error.code).toBe("EK_KUBE_BAD_NAME");
  });
});
