import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { MetricRegistry } from "@evenkeel/metrics";
import { createLogger } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import { type Prometheus, startPrometheus } from "@evenkeel/sim";
import type { MetricReading } from "../../decide/snapshot.ts";
import { metrics } from "../../metrics.ts";
import { SecretNotFound } from "../errors.ts";
import type { SecretReader } from "../secret-reader.ts";
import type { PrometheusSpec } from "./authorization.ts";
import { PrometheusSources } from "./prometheus-sources.ts";

const START = "2026-01-01T00:00:00Z";

/** Secrets of the namespace `shop`, by name and key. */
const SECRETS: Readonly<Record<string, string>> = {
  "shop/login user": "admin",
  "shop/login password": "s3cret-word",
  "shop/token value": "long-bearer-token",
  "shop/broken value": "two\nlines",
};

const secrets: SecretReader = {
  read: (namespace, { name = "", key = "" }) => {
    const value = SECRETS[`${namespace}/${name} ${key}`];
    if (value !== undefined) return Promise.resolve(value);
    return Promise.reject(new SecretNotFound({ secret: `${namespace}/${name}`, key }));
  },
};

const never = new AbortController().signal;

/** With the default that the API gives it, and none of its checks. */
function specOf(prometheus: Asked): PrometheusSpec {
  return { query: "load", timeout: 30, ...prometheus };
}

type Asked = Partial<PrometheusSpec> & Pick<PrometheusSpec, "address">;

/** Sources over a clock that stands still, with what they write to the log and count. */
class World {
  readonly clock = new FakeClock(START);
  readonly lines: string[] = [];
  readonly registry = new MetricRegistry();
  proxy: string | undefined;
  readonly sources = new PrometheusSources({
    clock: this.clock,
    log: createLogger({
      service: "test",
      level: "debug",
      secrets: [],
      destination: { write: (line: string) => this.lines.push(line) },
    }),
    secrets,
    proxyFor: () => this.proxy,
    queries: this.registry.register({ queries: metrics.queries }).queries,
  });

  read(prometheus: Asked, signal = never): Promise<MetricReading> {
    return this.sources.source("shop", specOf(prometheus)).read(signal);
  }

  /** Runs time forward until the reading is there. */
  async readThrough(prometheus: Asked): Promise<MetricReading> {
    const progress = { over: false };
    const reading = this.read(prometheus).finally(() => (progress.over = true));
    while (!progress.over) await this.clock.advance(1000);
    return reading;
  }
}

/** A server that answers as it is told. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<TestServer> {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return new TestServer(server);
}

class TestServer {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const scalar = (value: string, at = START): string =>
  JSON.stringify({ status: "success", data: { resultType: "scalar", result: [Date.parse(at) / 1000, value] } });

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

describe("a Prometheus source", () => {
  let world: World;
  let prometheus: Prometheus;
  beforeEach(async () => {
    world = new World();
    prometheus = await startPrometheus({
      clock: world.clock,
      series: [
        { metric: { __name__: "load", site: "a" }, value: () => 3000 },
        { metric: { __name__: "parts", site: "a" }, value: () => 0.1 },
        { metric: { __name__: "parts", site: "b" }, value: () => 0.2 },
      ],
    });
  });
  afterEach(async () => {
    await world.sources.stop();
    await prometheus.stop();
  });

  const ask = (query: string, more: Partial<PrometheusSpec> = {}) =>
    world.read({ address: prometheus.url, query, ...more });

  test("reads a vector of one sample, which the original refused", async () => {
    expect(await ask("sum(load)")).toEqual({
      source: `prometheus ${prometheus.url}`,
      value: "3000",
      sampledAt: "2026-01-01T00:00:00.000Z",
      fault: null,
      message: null,
    });
  });

  test("reads a scalar", async () => {
    expect((await ask("scalar(load)")).value).toBe("3000");
  });

  test("has no data where the query finds nothing", async () => {
    expect(await ask("absent")).toMatchObject({ value: null, fault: "NoData", sampledAt: null });
  });

  test("takes NaN of scalar() over nothing for no number", async () => {
    expect(await ask("scalar(absent)")).toMatchObject({ value: null, fault: "NotANumber" });
  });

  test("refuses two series and adds them once it is told to", async () => {
    expect(await ask("parts")).toMatchObject({ fault: "ManySeries", message: expect.stringMatching(/^2 series/) });
    expect((await ask("parts", { reducer: "sum" })).value).toBe("0.3");
  });

  test("passes on what the server says against the query", async () => {
    const reading = await ask("load{");
    expect(reading).toMatchObject({ value: null, fault: "QueryFailed" });
    expect(reading.message).toMatch(/bad_data: .*parse error/);
  });

  test.each([
    ["bad_data", /bad_data: why/],
    ["execution", /execution: why/],
    ["internal", /500.*internal: why/],
    ["timeout", /503.*timeout: why/],
  ] as const)("passes the error %s on", async (errorType, message) => {
    prometheus.answer("broken", () => ({ kind: "error", errorType, error: "why" }));
    const reading = await ask("broken");
    expect(reading.fault).toBe("QueryFailed");
    expect(reading.message).toMatch(message);
  });

  test.each([401, 403, 404, 407, 429, 500, 502, 503, 418])("names status %d", async (code) => {
    prometheus.faults.add({ fault: { kind: "status", code } });
    const reading = await ask("load");
    expect(reading).toMatchObject({ value: null, fault: "QueryFailed", message: expect.stringContaining(`${code}`) });
  });

  test("signs in with user and password of a Secret", async () => {
    prometheus.requireAuth({ kind: "basic", username: "admin", password: "s3cret-word" });
    expect((await ask("load")).message).toContain("401");
    const userSecretRef = { name: "login", key: "user" };
    const secretRef = { userSecretRef, passwordSecretRef: { name: "login", key: "password" } };
    expect((await ask("load", { auth: { secretRef } })).value).toBe("3000");
  });

  test("signs in with a bearer token of a Secret", async () => {
    prometheus.requireAuth({ kind: "bearer", token: "long-bearer-token" });
    expect((await ask("load", { auth: { bearerSecretRef: { name: "token", key: "value" } } })).value).toBe("3000");
  });

  test("signs in with a header of a Secret", async () => {
    prometheus.requireAuth({ kind: "bearer", token: "x" });
    const headers = [{ name: "Authorization", value: "Bearer x" }];
    expect((await ask("load", { headers })).value).toBe("3000");
  });

  test("signs in with user and password of the address, and shows neither", async () => {
    prometheus.requireAuth({ kind: "basic", username: "admin", password: "p@ss" });
    const address = prometheus.url.replace("http://", "http://admin:p%40ss@");
    const reading = await world.read({ address });
    expect(reading).toMatchObject({ source: `prometheus ${prometheus.url}`, value: "3000" });
    const refused = await world.read({ address: prometheus.url.replace("http://", "http://admin:hidden@") });
    expect(refused.message).toContain("401");
    expect(JSON.stringify([refused, world.lines])).not.toContain("hidden");
  });

  test.each<[string, Partial<PrometheusSpec>, RegExp]>([
    ["a Secret that is not there", { auth: { bearerSecretRef: { name: "gone", key: "value" } } }, /shop\/gone/],
    [
      "a user without a password",
      { auth: { secretRef: { userSecretRef: { name: "login", key: "user" } } } },
      /passwordSecretRef/,
    ],
    ["a password without a user", { auth: { secretRef: {} } }, /userSecretRef/],
    ["both kinds of credentials", { auth: { secretRef: {}, bearerSecretRef: {} } }, /secretRef.*bearerSecretRef/],
    ["a token of two lines", { auth: { bearerSecretRef: { name: "broken", key: "value" } } }, /header/],
    ["a header without a value", { headers: [{ name: "X-Tenant" }] }, /X-Tenant.*value.*valueSecretRef/],
    ["a header's name that is none", { headers: [{ name: "X Tenant", value: "a" }] }, /X Tenant/],
    ["a header of the framing", { headers: [{ name: "Transfer-Encoding", value: "chunked" }] }, /Transfer-Encoding/i],
    [
      "a certificate without its key",
      { tls: { certSecretRef: { name: "c", key: "c" } } },
      /certSecretRef.*keySecretRef/,
    ],
    ["no time at all", { maxAge: "0s" }, /maxAge/],
    ["an address that is none", { address: "prometheus:9090" }, /spec\.metrics\.prometheus\.address/],
  ])("says that a spec has %s", async (_name, spec, message) => {
    const reading = await ask("load", spec);
    expect(reading).toMatchObject({ value: null, fault: "QueryFailed" });
    expect(reading.message).toMatch(message);
  });

  test("is stale when the server's clock is behind, and speaks of clocks when it is ahead", async () => {
    const clock = new FakeClock(START);
    const other = await startPrometheus({ clock, series: [{ metric: { __name__: "load" }, value: () => 1 }] });
    try {
      clock.jump(-301_000);
      expect(await world.read({ address: other.url })).toMatchObject({ value: null, fault: "StaleMetric" });
      expect(await world.read({ address: other.url, maxAge: "6m" })).toMatchObject({ value: "1" });
      clock.jump(602_000);
      const ahead = await world.read({ address: other.url });
      expect(ahead).toMatchObject({ fault: "StaleMetric", message: expect.stringContaining("clock") });
    } finally {
      await other.stop();
    }
  });

  test("gives up a server that never answers, at its deadline by the clock", async () => {
    prometheus.faults.add({ fault: { kind: "hang" } });
    const reading = await world.readThrough({ address: prometheus.url });
    expect(reading).toMatchObject({ value: null, fault: "QueryFailed" });
    expect(reading.message).toContain("30 s");
    expect(world.clock.monotonic()).toBeGreaterThanOrEqual(30_000);
    expect(world.clock.pending).toBe(0);
  });

  test("gives up a server that stops in the midst of its answer", async () => {
    await using server = await serve((_request, response) => response.writeHead(200).write('{"status":'));
    const reading = await world.readThrough({ address: server.url, timeout: 2 });
    expect(reading.message).toContain("2 s");
  });

  test("gives up when it is told to", async () => {
    prometheus.faults.add({ fault: { kind: "hang" } });
    const controller = new AbortController();
    const reading = world.read({ address: prometheus.url }, controller.signal);
    controller.abort(new Error("the term is over"));
    expect(await reading).toMatchObject({ value: null, fault: "QueryFailed" });
    const late = await world.read({ address: prometheus.url }, controller.signal);
    expect(late).toMatchObject({ value: null, fault: "QueryFailed" });
  });

  test("says that a server is dead", async () => {
    const { url } = prometheus;
    await prometheus.stop();
    const reading = await world.read({ address: url });
    expect(reading).toMatchObject({ value: null, fault: "QueryFailed" });
    expect(reading.message).toContain("ECONNREFUSED");
  });

  test("asks once more when a connection was cut", async () => {
    prometheus.faults.add({ fault: { kind: "reset" }, times: 1 });
    expect((await ask("load")).value).toBe("3000");
  });

  test("says that a connection broke", async () => {
    prometheus.faults.add({ fault: { kind: "reset" } });
    expect(await ask("load")).toMatchObject({ value: null, fault: "QueryFailed" });
  });

  test("says that a plain server was asked for TLS", async () => {
    const reading = await world.read({ address: prometheus.url.replace("http:", "https:") });
    expect(reading).toMatchObject({ value: null, fault: "QueryFailed", message: expect.stringContaining("TLS") });
  });

  test.each([
    ["a page of HTML", "<html>Sign in</html>", "JSON"],
    ["an answer that is cut", '{"status":"success","data":{"resultType"', "JSON"],
    ["another API", '{"items":[]}', "status"],
  ])("takes %s for no metric", async (_name, body, why) => {
    await using server = await serve((_request, response) => response.end(body));
    const reading = await world.read({ address: server.url });
    expect(reading).toMatchObject({ value: null, fault: "QueryFailed", message: expect.stringContaining(why) });
  });

  test("takes an error with status 200 for what it is", async () => {
    await using server = await serve((_request, response) =>
      response.end('{"status":"error","errorType":"bad_data","error":"no such tenant"}'),
    );
    expect((await world.read({ address: server.url })).message).toContain("(bad_data: no such tenant)");
  });

  test("reads at most a mebibyte", async () => {
    const chunk = " ".repeat(64 * 1024);
    let written = 0;
    await using server = await serve((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && written < 2 ** 28 && response.write(chunk)) written += chunk.length;
      };
      response.on("drain", more);
      more();
    });
    const reading = await world.read({ address: server.url });
    expect(reading).toMatchObject({
      fault: "QueryFailed",
      message: expect.stringContaining("1048576"),
    });
    expect(written).toBeLessThan(2 ** 28);
  });

  test("follows no redirect, so that no other server gets the credentials", async () => {
    const asked: string[] = [];
    await using other = await serve((request, response) => {
      asked.push(String(request.headers.authorization));
      response.end(scalar("1"));
    });
    await using server = await serve((_request, response) =>
      response.writeHead(302, { location: `${other.url.replace("//", "//u:p@")}/login?token=hidden` }).end(),
    );
    const reading = await world.read({
      address: server.url,
      auth: { bearerSecretRef: { name: "token", key: "value" } },
    });
    expect(reading.message).toContain(`${other.url}/login`);
    expect(reading.message).not.toContain("hidden");
    expect(asked).toEqual([]);
  });

  test("masks a secret that the server repeats, also where the text is cut", async () => {
    const token = "long-bearer-token";
    await using server = await serve((request, response) => {
      const error = `${"x".repeat(270)}${String(request.headers.authorization)}`;
      response.writeHead(422).end(JSON.stringify({ status: "error", errorType: "execution", error }));
    });
    const reading = await world.read({
      address: server.url,
      auth: { bearerSecretRef: { name: "token", key: "value" } },
    });
    expect(reading.message).toContain("xxxx");
    expect(reading.message).not.toContain(token.slice(0, 4));
  });

  test("asks by GET below the address's path, with its parameters, the time that is left, and headers", async () => {
    const asked: unknown[] = [];
    await using server = await serve((request, response) => {
      asked.push([request.method, request.url, request.headers["x-tenant"], request.headers["x-scope"]]);
      response.end(scalar("1"));
    });
    const headers = [
      { name: "X-Tenant", value: "a" },
      { name: "X-Scope", valueSecretRef: { name: "login", key: "user" } },
    ];
    const address = `${server.url}/prom/?tenant=b`;
    expect((await world.read({ address, query: "sum(load)", timeout: 7, maxAge: "90s", headers })).value).toBe("1");
    const target = "/prom/api/v1/query?tenant=b&query=sum%28load%29&timeout=7s&lookback_delta=90";
    expect(asked).toEqual([["GET", target, "a", "admin"]]);
  });

  test("asks a long query as a form", async () => {
    const asked: unknown[] = [];
    await using server = await serve((request, response) => {
      void bodyOf(request).then((body) => {
        asked.push([request.method, request.url, new URLSearchParams(body).get("query")]);
        response.end(scalar("1"));
      });
    });
    const query = `sum(load{site=~"${"a|".repeat(4000)}b"})`;
    expect((await world.read({ address: server.url, query })).value).toBe("1");
    expect(asked).toEqual([["POST", "/api/v1/query", query]]);
  });

  test("sends at most six queries of a namespace at once to a server, and others meanwhile", async () => {
    const waiting: ServerResponse[] = [];
    await using slow = await serve((_request, response) => waiting.push(response));
    const readings = Array.from({ length: 20 }, () => world.read({ address: slow.url }));
    const other = await ask("load");
    expect(other.value).toBe("3000");
    let answered = 0;
    while (answered < 20) {
      while (waiting.length < Math.min(6, 20 - answered)) await new Promise((resolve) => setImmediate(resolve));
      await ask("load");
      expect(waiting.length).toBe(Math.min(6, 20 - answered));
      for (const response of waiting.splice(0)) response.end(scalar("5"));
      answered += 6;
    }
    for (const reading of await Promise.all(readings)) expect(reading.value).toBe("5");
  });

  test("counts the time in the queue against the deadline", async () => {
    prometheus.faults.add({ fault: { kind: "hang" } });
    const readings = Array.from({ length: 12 }, () => world.readThrough({ address: prometheus.url, timeout: 3 }));
    for (const reading of await Promise.all(readings)) expect(reading.message).toContain("3 s");
  });

  test("goes through the proxy that it is told of", async () => {
    const asked: string[] = [];
    const sockets = new Set<Socket>();
    const { port } = new URL(prometheus.url);
    // Takes both ways of asking a proxy: a tunnel, and a whole URL in the request line.
    const proxy = createTcpServer((socket) => {
      sockets.add(socket.on("error", () => undefined));
      socket.once("data", (first: Buffer) => {
        const [line = ""] = first.toString("latin1").split("\r\n");
        asked.push(line);
        const onward = connect(Number(port), "127.0.0.1");
        sockets.add(onward.on("error", () => undefined));
        if (line.startsWith("CONNECT")) socket.write("HTTP/1.1 200 OK\r\n\r\n");
        else onward.write(first.toString("latin1").replace("http://metrics.invalid:9090", ""), "latin1");
        socket.pipe(onward).pipe(socket);
      });
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    try {
      world.proxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const reading = await world.read({ address: "http://metrics.invalid:9090" });
      expect(reading).toMatchObject({ source: "prometheus http://metrics.invalid:9090", value: "3000" });
      expect(asked).toHaveLength(1);
      expect(asked[0]).toContain("metrics.invalid:9090");
    } finally {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    }
  });

  test("writes warnings of the server to the debug log", async () => {
    const result = [{ metric: {}, value: [Date.parse(START) / 1000, "1"] }];
    const warnings = ["one of two stores did not answer"];
    await using server = await serve((_request, response) =>
      response.end(JSON.stringify({ status: "success", data: { resultType: "vector", result }, warnings })),
    );
    expect((await world.read({ address: server.url })).value).toBe("1");
    expect(world.lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ level: "debug", warnings }]);
  });

  test("measures each query by whether it gave a number", async () => {
    await ask("load");
    await ask("absent");
    await ask("load{");
    const text = await world.registry.text();
    expect(text).toContain('rebalancer_query_duration_seconds_count{result="ok"} 1');
    expect(text).toContain('rebalancer_query_duration_seconds_count{result="fault"} 2');
  });

  test("sends no query after it is stopped", async () => {
    const taken = new Promise<void>((resolve) => {
      const when = (): boolean => {
        resolve();
        return true;
      };
      prometheus.faults.add({ fault: { kind: "hang" }, when });
    });
    const under = ask("load");
    await taken;
    await world.sources.stop();
    expect(await under).toMatchObject({ value: null, fault: "QueryFailed" });
    expect(await ask("load")).toMatchObject({ value: null, fault: "QueryFailed" });
  });
});
