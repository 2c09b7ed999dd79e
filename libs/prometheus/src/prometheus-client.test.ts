import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { FakeClock } from "@evenkeel/runtime/testing";
import { type Prometheus, startPrometheus } from "@evenkeel/sim";
import { parseAddress, type ServerAddress } from "./address.ts";
import type { Advice } from "./advice.ts";
import { PrometheusClient, type Query, type QueryOutcome } from "./prometheus-client.ts";

const START = "2026-01-01T00:00:00Z";

/** Each piece names itself, so that a message shows which of them it has. */
const advice: Advice = {
  address: "ADDRESS",
  credentials: "CREDENTIALS",
  permission: "PERMISSION",
  load: "LOAD",
  time: "TIME",
  trust: "TRUST",
  handshake: "HANDSHAKE",
  clientCertificate: "CERTIFICATE?",
};

const never = new AbortController().signal;

function addressOf(url: string): ServerAddress {
  const address = parseAddress(url);
  if (!address) throw new Error(`${url} is no address`);
  return address;
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

const scalar = (value: string): string =>
  JSON.stringify({ status: "success", data: { resultType: "scalar", result: [Date.parse(START) / 1000, value] } });

describe("a client of Prometheus", () => {
  let clock: FakeClock;
  let prometheus: Prometheus;
  let client: PrometheusClient;
  let proxy: string | undefined;
  beforeEach(async () => {
    clock = new FakeClock(START);
    proxy = undefined;
    client = new PrometheusClient({ clock, advice, userAgent: "evenkeel-test", proxyFor: () => proxy });
    prometheus = await startPrometheus({
      clock,
      series: ["a", "b"].map((site) => ({ metric: { __name__: "load", site }, value: () => 0.25 })),
    });
  });
  afterEach(async () => {
    await client.stop();
    await prometheus.stop();
  });

  const ask = (query: string, { url = prometheus.url, ...more }: Partial<Query> & { url?: string } = {}) =>
    client.query({ address: addressOf(url), query, timeout: 5000, signal: never, ...more });

  const failure = (outcome: QueryOutcome): string =>
    outcome.kind === "failed" ? outcome.message : `it did not fail: ${outcome.kind}`;

  /** Runs time forward until the outcome is there. */
  async function through(asked: Promise<QueryOutcome>): Promise<QueryOutcome> {
    const progress = { over: false };
    const outcome = asked.finally(() => (progress.over = true));
    while (!progress.over) await clock.advance(500);
    return outcome;
  }

  test("gives the samples of a vector, and when it asked", async () => {
    const sample = { seconds: Date.parse(START) / 1000, value: "0.25" };
    expect(await ask("load")).toEqual({
      ...{ kind: "samples", resultType: "vector", samples: [sample, sample], warnings: [] },
      askedAt: Date.parse(START),
    });
    expect(await ask("absent")).toMatchObject({ kind: "samples", samples: [] });
  });

  test("gives the labels of samples on request", async () => {
    expect(await ask("load", { labelled: true })).toMatchObject({
      samples: [{ labels: { site: "a" } }, { labels: { site: "b" } }],
    });
  });

  test("reads an answer up to the limit of its caller", async () => {
    const padded = `${scalar("1")}${" ".repeat(2 ** 20)}`;
    await using server = await serve((_request, response) => response.end(padded));
    expect(failure(await ask("1", { url: server.url }))).toMatch(/larger than 1048576 bytes/);
    expect(await ask("1", { url: server.url, limit: padded.length })).toMatchObject({ kind: "samples" });
  });

  test("gives a scalar, also one that is no number", async () => {
    expect(await ask("42")).toMatchObject({ kind: "samples", resultType: "scalar", samples: [{ value: "42" }] });
    expect(await ask("scalar(absent)")).toMatchObject({ samples: [{ value: "NaN" }] });
  });

  test("says that an answer is no number's", async () => {
    await using server = await serve((_request, response) =>
      response.end('{"status":"success","data":{"resultType":"matrix","result":[]}}'),
    );
    expect(await ask("load[5m]", { url: server.url })).toEqual({ kind: "unfit", resultType: "matrix" });
  });

  test.each([
    [302, /redirects to another place, which is not followed: ADDRESS$/],
    [400, /refuses the query: correct query$/],
    [401, /\(401\): CREDENTIALS$/],
    [403, /\(403\): PERMISSION$/],
    [404, /\(404\): is its path complete\?$/],
    [407, /proxy/],
    [429, /\(429\): LOAD$/],
    [503, /\(503\): TIME$/],
    [418, /status 418/],
  ])("gives its caller's advice on status %d", async (status, message) => {
    await using server = await serve((_request, response) => response.writeHead(status).end());
    expect(failure(await ask("load", { url: server.url }))).toMatch(message);
  });

  test("gives its caller's advice on a server that does not speak TLS, and says that one is dead", async () => {
    const { url } = prometheus;
    expect(failure(await ask("load", { url: url.replace("http:", "https:") }))).toMatch(
      /^no TLS connection \(.*\): HANDSHAKE$/,
    );
    await prometheus.stop();
    expect(failure(await ask("load", { url }))).toMatch(/^no connection \(.*ECONNREFUSED/);
  });

  test("gives up at the timeout, which may have begun before", async () => {
    prometheus.faults.add({ fault: { kind: "hang" } });
    const message = "no whole answer within 5 s: is the server up? If it is merely slow, TIME";
    expect(failure(await through(ask("load")))).toBe(message);
    expect(clock.monotonic()).toBe(5000);
    expect(failure(await through(ask("load", { begun: clock.monotonic() - 4000 })))).toBe(message);
    expect(clock.monotonic()).toBe(6000);
    expect(failure(await through(ask("load", { begun: clock.monotonic() - 9000 })))).toBe(message);
    expect(clock.pending).toBe(0);
  });

  test("gives up when it is told to", async () => {
    prometheus.faults.add({ fault: { kind: "hang" } });
    const controller = new AbortController();
    const outcome = ask("load", { signal: controller.signal });
    controller.abort(new Error("the term is over"));
    expect(failure(await outcome)).toBe("the query was given up");
    expect(failure(await ask("load", { signal: controller.signal }))).toBe("the query was given up");
  });

  test("asks once more when a connection was cut, and no more than once", async () => {
    prometheus.faults.add({ fault: { kind: "reset" }, times: 1 });
    expect(await ask("load")).toMatchObject({ kind: "samples" });
    prometheus.faults.add({ fault: { kind: "reset" }, times: 2 });
    expect(failure(await ask("load"))).toMatch(/^the connection broke \(/);
    expect(await ask("load")).toMatchObject({ kind: "samples" });
  });

  test("sends what it is told to, and the time that is left", async () => {
    const asked: unknown[] = [];
    await using server = await serve(({ method, url, headers }, response) => {
      asked.push([method, url, headers["user-agent"], headers["x-tenant"], headers.authorization]);
      response.end(scalar("1"));
    });
    const url = `${server.url}/prom/?tenant=b`;
    await ask("sum(load)", { url, lookback: 90_000, headers: { "x-tenant": "a" }, authorization: "Bearer x" });
    const target = "/prom/api/v1/query?tenant=b&query=sum%28load%29&timeout=5s&lookback_delta=90";
    expect(asked).toEqual([["GET", target, "evenkeel-test", "a", "Bearer x"]]);
  });

  test("signs in by a header, else by what it is told, else by what the address has", async () => {
    const asked: unknown[] = [];
    await using server = await serve((request, response) => {
      asked.push(request.headers.authorization);
      response.end(scalar("1"));
    });
    const url = server.url.replace("//", "//user:word@");
    await ask("1", { url, authorization: "Bearer x", headers: { authorization: "Own y" } });
    await ask("1", { url, authorization: "Bearer x" });
    await ask("1", { url });
    await ask("1", { url: server.url });
    expect(asked).toEqual(["Own y", "Bearer x", `Basic ${btoa("user:word")}`, undefined]);
  });

  test("shows no secret that a server repeats, also where its words are cut, or in its warnings", async () => {
    const words = (request: IncomingMessage) => `${"x".repeat(290)} ${String(request.headers.authorization)} p@ssword`;
    await using server = await serve((request, response) =>
      request.url?.includes("fine") === true
        ? response.end(JSON.stringify({ ...(JSON.parse(scalar("1")) as object), warnings: [words(request)] }))
        : response.writeHead(422).end(JSON.stringify({ status: "error", errorType: "", error: words(request) })),
    );
    const url = server.url.replace("//", "//user:p%40ssword@");
    const more = { url, authorization: "Bearer long-token", secrets: ["long-token"] };
    const refused = failure(await ask("load", more));
    expect(refused).toContain("xxx Bearer");
    const warned = await ask("fine", more);
    expect(JSON.stringify(warned)).toContain("Bearer [masked] [masked]");
    expect(JSON.stringify([refused, warned])).not.toMatch(/long-|p@ss/);
  });

  test("asks a server eight queries at once, in order, and others meanwhile", async () => {
    const waiting: { readonly query: string | null; readonly response: ServerResponse }[] = [];
    await using slow = await serve((request, response) => {
      waiting.push({ query: new URL(request.url ?? "", "http://here").searchParams.get("query"), response });
    });
    const outcomes = Array.from({ length: 12 }, (_, index) => ask(String(index), { url: slow.url }));
    while (waiting.length < 8) await new Promise((resolve) => setImmediate(resolve));
    expect(await ask("42")).toMatchObject({ kind: "samples" });
    expect(waiting.map(({ query }) => Number(query)).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    for (const { response } of waiting.splice(0)) response.end(scalar("5"));
    while (waiting.length < 4) await new Promise((resolve) => setImmediate(resolve));
    for (const { response } of waiting.splice(0)) response.end(scalar("5"));
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ samples: [{ value: "5" }] });
  });

  test("goes through the proxy that it is told of", async () => {
    const asked: string[] = [];
    const sockets = new Set<Socket>();
    const { port } = new URL(prometheus.url);
    const tunnel = createTcpServer((socket) => {
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
    tunnel.listen(0, "127.0.0.1");
    await once(tunnel, "listening");
    try {
      proxy = `http://127.0.0.1:${(tunnel.address() as AddressInfo).port}`;
      expect(await ask("load", { url: "http://metrics.invalid:9090" })).toMatchObject({ kind: "samples" });
      expect(asked.join()).toContain("metrics.invalid:9090");
    } finally {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => tunnel.close(resolve));
    }
  });

  test("asks nobody any more once it is stopped", async () => {
    await client.stop();
    expect(failure(await ask("load"))).toContain("shutting down");
  });
});
