import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createLogger } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import type { TriggerReading } from "../../decide/snapshot.ts";
import { Triggers, type TriggersOptions } from "./triggers.ts";

const START = "2026-01-01T00:00:00Z";
const SECONDS = Date.parse(START) / 1000;
const UP = 'min_over_time((max(up{container="prometheus"}) or vector(0))[900s:])';

const never = new AbortController().signal;

type Reply = (response: ServerResponse, request: IncomingMessage) => void;

const vector =
  (...values: readonly string[]): Reply =>
  (response) =>
    response.end(bodyOf(values));

function bodyOf(values: readonly string[], seconds = SECONDS): string {
  const result = values.map((value, index) => ({ metric: { site: String(index) }, value: [seconds, value] }));
  return JSON.stringify({ status: "success", data: { resultType: "vector", result } });
}

const refusal =
  (status: number, error: string): Reply =>
  (response) =>
    response.writeHead(status).end(JSON.stringify({ status: "error", errorType: "bad_data", error }));

/** A server with scripted responses that records its queries. */
class MetricServer {
  readonly asked: string[] = [];
  readonly headers: IncomingMessage["headers"][] = [];
  readonly replies = new Map<string, Reply>([[UP, vector("1")]]);
  atOnce = 0;
  most = 0;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const query = new URL(request.url ?? "", "http://here").searchParams.get("query") ?? "";
      this.asked.push(query);
      this.headers.push(request.headers);
      this.most = Math.max(this.most, (this.atOnce += 1));
      response.on("close", () => (this.atOnce -= 1));
      (this.replies.get(query) ?? vector())(response, request);
    });
  }

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe("a trigger of type prometheus", () => {
  let server: MetricServer;
  let clock: FakeClock;
  let triggers: Triggers;
  let lines: string[];

  const made = (more: Partial<TriggersOptions> = {}): Triggers =>
    new Triggers({
      clock,
      log: createLogger({
        service: "test",
        level: "debug",
        secrets: [],
        destination: { write: (line: string) => lines.push(line) },
      }),
      interval: 30_000,
      address: undefined,
      proxyFor: () => undefined,
      ...more,
    });

  beforeEach(async () => {
    lines = [];
    clock = new FakeClock(START);
    server = await new MetricServer().start();
    triggers = made();
  });
  afterEach(async () => {
    await triggers.stop();
    await server.stop();
  });

  const metadataOf = (more: object = {}) => ({ query: "load", threshold: "0.5", serverAddress: server.url, ...more });

  async function read(metadata: unknown, from = triggers, cooldown = 900): Promise<TriggerReading> {
    const trigger = { type: "prometheus" as const, metadata: metadata as Record<string, unknown> };
    const [reading] = await from.read({ namespace: "shop", triggers: [trigger], cooldown: cooldown * 1000 }, never);
    if (!reading) throw new Error("there is no reading");
    return reading;
  }

  test.each([
    ["0", "0.5", "idle", "0 is below 0.5"],
    ["0.49", "0.5", "idle", "0.49 is below 0.5"],
    ["0.5", "0.5", "busy", "0.5 is not below 0.5"],
    ["1e+21", "0.5", "busy", "1e+21 is not below 0.5"],
    ["-2", "0", "idle", "-2 is below 0"],
    ["0", undefined, "busy", "0 is not below 0"],
    ["3", 4, "idle", "3 is below 4"],
  ])("takes the value %s with the threshold %s for %s", async (value, threshold, verdict, message) => {
    server.replies.set("load", vector(value));
    expect(await read(metadataOf({ threshold }))).toEqual({ trigger: "prometheus load", verdict, message });
  });

  test("takes a scalar as well", async () => {
    server.replies.set("load", (response) =>
      response.end(`{"status":"success","data":{"resultType":"scalar","result":[${SECONDS},"0.1"]}}`),
    );
    expect(await read(metadataOf())).toMatchObject({ verdict: "idle" });
  });

  test.each<[string, Reply, RegExp]>([
    ["no sample", vector(), /no sample/],
    ["several series", vector("0", "0"), /2 series.*sum/],
    ["NaN", vector("NaN"), /NaN/],
    ["infinity", vector("+Inf"), /\+Inf/],
    ["minus infinity", vector("-Inf"), /-Inf/],
    ["a number beyond all numbers", vector("-1e999"), /not a number/],
    ["an empty value", vector(""), /not a number/],
    ["a word", vector("zero"), /not a number/],
    ["-1, which the original took for no value", vector("-1"), /-1/],
    ["an answer of long ago", (response) => response.end(bodyOf(["0"], SECONDS - 301)), /2025-12-31T23:54:59/],
    ["an answer of the future", (response) => response.end(bodyOf(["0"], SECONDS + 301)), /2026-01-01T00:05:01/],
    [
      "a range",
      (response) => response.end('{"status":"success","data":{"resultType":"matrix","result":[]}}'),
      /range of values/,
    ],
    ["a refusal", refusal(400, "parse error"), /bad_data: parse error/],
    ["an error with status 200", refusal(200, "no tenant"), /no tenant/],
    ["401", refusal(401, "who?"), /\(401\) \(bad_data: who\?\).*headers/],
    ["500", refusal(500, ""), /status 500/],
    ["a page", (response) => response.end("<html>"), /not JSON/],
    ["half an answer", (response) => response.end('{"status":"success","data":{'), /not JSON/],
    ["a redirect", (response) => response.writeHead(302, { location: "/login" }).end(), /serverAddress/],
    ["a cut connection", (response) => response.destroy(), /^the connection broke/],
    ["more than a mebibyte", (response) => response.end(" ".repeat(2 ** 20 + 1)), /larger than 1048576 bytes/],
  ])("is unknown for %s", async (_name, reply, message) => {
    server.replies.set("load", reply);
    const reading = await read(metadataOf());
    expect(reading).toMatchObject({ trigger: "prometheus load", verdict: "unknown" });
    expect(reading.message).toMatch(message);
  });

  test("is unknown when the server does not answer within five seconds", async () => {
    server.replies.set("load", () => undefined);
    const progress = { over: false };
    const reading = read(metadataOf()).finally(() => (progress.over = true));
    while (!progress.over) await clock.advance(500);
    expect(await reading).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/^no whole answer within 5 s/),
    });
  });

  test("is unknown if its server refuses connections", async () => {
    const metadata = metadataOf();
    await server.stop();
    const reading = await read(metadata);
    expect(reading).toMatchObject({ verdict: "unknown", message: expect.stringContaining("ECONNREFUSED") });
    server = await new MetricServer().start();
  });

  test.each<[string, unknown, RegExp]>([
    ["no metadata", undefined, /metadata.*query: Required/],
    ["no query", { serverAddress: "http://p" }, /metadata.*query: Required/],
    ["an empty query", { query: " ", serverAddress: "http://p" }, /query is empty/],
    ["a threshold that is none", { query: "load", threshold: "low" }, /metadata.*threshold/],
    ["an infinite threshold", { query: "load", threshold: "1e999" }, /metadata.*threshold/],
    ["a threshold that is empty", { query: "load", threshold: "" }, /metadata.*threshold/],
    ["no address", { query: "load" }, /no serverAddress, and --prometheus-address is not set$/],
    ["an empty address", { query: "load", serverAddress: "" }, /no serverAddress/],
    ["another scheme", { query: "load", serverAddress: "file:///etc/passwd" }, /serverAddress.*URL/],
    ["no scheme", { query: "load", serverAddress: "p:9090" }, /serverAddress.*URL/],
    ["a long address", { query: "load", serverAddress: `http://p/${"x".repeat(2048)}` }, /serverAddress.*URL/],
    ["a long query", { query: "x".repeat(32_769), serverAddress: "http://p" }, /longer than 32768/],
    ["headers that are a list", { query: "load", headers: [] }, /metadata.*headers/],
    [
      "a header with a line break",
      { query: "load", headers: { "x-a": "hidden\r\nb" } },
      /^its headers: x-a: the value/,
    ],
    ["a header of the framing", { query: "load", headers: { "Content-Length": "1" } }, /Content-Length cannot be set$/],
    ["a header without a name", { query: "load", headers: { "": "a" } }, /no header's name$/],
    [
      "too many headers",
      { query: "load", headers: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`x-${i}`, ""])) },
      /more than 32 headers$/,
    ],
    ["a long header", { query: "load", headers: { "x-a": "x".repeat(8193) } }, /too long$/],
  ])("is unknown for metadata with %s", async (_name, metadata, message) => {
    const reading = await read(metadata);
    expect(reading.verdict).toBe("unknown");
    expect(reading.message).toMatch(message);
    expect(reading.message).not.toContain("hidden");
    expect(reading.trigger.length).toBeLessThan(120);
  });

  test("asks the server of the setting where it names none", async () => {
    server.replies.set("load", vector("0"));
    const others = made({ address: new URL(server.url) });
    expect(await read({ query: "load", threshold: "1" }, others)).toMatchObject({ verdict: "idle" });
    await others.stop();
  });

  test("has its own server asked, also where there is a setting", async () => {
    server.replies.set("load", vector("0"));
    const others = made({ address: new URL("http://elsewhere.invalid") });
    expect(await read(metadataOf(), others)).toMatchObject({ verdict: "idle" });
    await others.stop();
  });

  describe("whose server", () => {
    test.each<[string, Reply, RegExp]>([
      ["was not up all the time", vector("0"), /last 900 s.*up\{container="prometheus"\}.*uptimeFilter/],
      ["was up in a way that is none", vector("0.5"), /last 900 s.*uptimeFilter/],
      ["does not know whether it was up", vector(), /uptime.*no sample/],
      ["gives NaN for it", vector("NaN"), /uptime.*NaN/],
      ["fails to say so", refusal(422, "too many samples"), /uptime.*too many samples/],
    ])("%s is unknown, however low the value is", async (_name, reply, message) => {
      server.replies.set("load", vector("0"));
      server.replies.set(UP, reply);
      const reading = await read(metadataOf());
      expect(reading.verdict).toBe("unknown");
      expect(reading.message).toMatch(message);
      expect(server.asked).not.toContain("load");
    });

    test("is asked about the series that uptimeFilter names, over the cooldown", async () => {
      const query = 'min_over_time((max(up{job="p"}) or vector(0))[61s:])';
      server.replies.set(query, vector("1")).set("load", vector("0"));
      expect(await read(metadataOf({ uptimeFilter: 'job="p"' }), triggers, 60.5)).toMatchObject({ verdict: "idle" });
      expect(server.asked).toEqual([query, "load"]);
    });

    test("is asked about the usual series where uptimeFilter is empty", async () => {
      server.replies.set("load", vector("0"));
      expect(await read(metadataOf({ uptimeFilter: "" }))).toMatchObject({ verdict: "idle" });
    });

    test("is asked again in steps of a second where the cooldown is shorter than the server's interval", async () => {
      const steps = 'min_over_time((max(up{container="prometheus"}) or vector(0))[5s:1s])';
      server.replies.set(steps, vector("1")).set("load", vector("0"));
      expect(await read(metadataOf(), triggers, 5)).toMatchObject({ verdict: "idle" });
      server.replies.set(steps, vector("0"));
      await clock.advance(15_000);
      expect(await read(metadataOf(), triggers, 5)).toMatchObject({ verdict: "unknown" });
    });
  });

  test("passes on its headers, and shows none of their values", async () => {
    server.replies.set("load", (response, request) =>
      refusal(403, `${String(request.headers.authorization)} ${String(request.headers["x-scope-orgid"])}`)(
        response,
        request,
      ),
    );
    const headers = { Authorization: "Bearer s3cret-token", "X-Scope-OrgID": "tenant-seven" };
    const reading = await read(metadataOf({ headers }));
    expect(server.headers.at(-1)).toMatchObject({
      authorization: "Bearer s3cret-token",
      "x-scope-orgid": "tenant-seven",
      "user-agent": "evenkeel-scale-resolver",
    });
    expect(reading).toMatchObject({ verdict: "unknown", message: expect.stringContaining("(403)") });
    expect(JSON.stringify([reading, lines])).not.toMatch(/s3cret-token|tenant-seven/);
  });

  test("masks the token also where the server repeats it alone", async () => {
    server.replies.set("load", refusal(403, "token s3cret-token is too old"));
    const reading = await read(metadataOf({ headers: { Authorization: "Bearer s3cret-token" } }));
    expect(reading.message).toContain("token [masked] is too old");
  });

  test("signs in with user and password of the address, and shows neither", async () => {
    server.replies.set("load", refusal(401, `no: ${Buffer.from("admin:p@ssword").toString("base64")} p@ssword`));
    const serverAddress = server.url.replace("//", "//admin:p%40ssword@");
    const reading = await read(metadataOf({ serverAddress }));
    expect(server.headers[0]?.authorization).toBe(`Basic ${Buffer.from("admin:p@ssword").toString("base64")}`);
    expect(reading.message).toContain("(401) (bad_data: no: [masked] [masked])");
  });

  test("writes warnings of the server to the debug log", async () => {
    const warnings = ["one of two stores did not answer"];
    server.replies.set("load", (response) =>
      response.end(JSON.stringify({ ...(JSON.parse(bodyOf(["0"])) as object), warnings })),
    );
    await read(metadataOf());
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: "debug", namespace: "shop", trigger: "prometheus load", warnings },
    ]);
  });

  describe("shares answers", () => {
    beforeEach(() => {
      server.replies.set("load", vector("1"));
    });

    test("between all triggers with the same query during a request, with one request for the uptime", async () => {
      const readings = await Promise.all(
        Array.from({ length: 500 }, (_, index) => read(metadataOf({ threshold: String(index) }))),
      );
      expect(server.asked).toEqual([UP, "load"]);
      expect(readings.map(({ verdict }) => verdict)).toEqual(
        Array.from({ length: 500 }, (_, index) => (index <= 1 ? "busy" : "idle")),
      );
    });

    test("for half of the interval, and then asks again", async () => {
      await read(metadataOf());
      await clock.advance(14_999);
      await read(metadataOf());
      expect(server.asked).toHaveLength(2);
      server.replies.set("load", vector("0"));
      await clock.advance(1);
      clock.jump(-15_000);
      expect(await read(metadataOf())).toMatchObject({ verdict: "idle" });
      expect(server.asked).toEqual([UP, "load", UP, "load"]);
    });

    test("that are failures as well", async () => {
      server.replies.set("load", refusal(500, ""));
      await read(metadataOf());
      expect(await read(metadataOf())).toMatchObject({ verdict: "unknown" });
      expect(server.asked).toHaveLength(2);
    });

    test("but not with other headers, users, parameters or queries", async () => {
      await read(metadataOf());
      await read(metadataOf({ headers: { "x-tenant": "a" } }));
      await read(metadataOf({ headers: { "x-tenant": "b" } }));
      await read(metadataOf({ headers: { "X-Tenant": "b" } }));
      await read(metadataOf({ serverAddress: `${server.url}?tenant=a` }));
      await read(metadataOf({ serverAddress: server.url.replace("//", "//a:b@") }));
      server.replies.set("other", vector("0"));
      await read(metadataOf({ query: "other" }));
      expect(server.asked.filter((query) => query === "load")).toHaveLength(5);
      expect(server.asked.filter((query) => query === "other")).toHaveLength(1);
    });

    test("with the others after the first caller aborted", async () => {
      let answer: (() => void) | undefined;
      const begun = new Promise<void>((resolve) => {
        server.replies.set("load", (response, request) => {
          answer = () => vector("0")(response, request);
          resolve();
        });
      });
      const leaving = new AbortController();
      const trigger = { type: "prometheus" as const, metadata: metadataOf() };
      const first = triggers.read({ namespace: "shop", triggers: [trigger], cooldown: 900_000 }, leaving.signal);
      await begun;
      const second = read(metadataOf());
      leaving.abort(new Error("the term is over"));
      await expect(first).rejects.toThrow("the term is over");
      answer?.();
      expect(await second).toMatchObject({ verdict: "idle" });
      expect(server.asked).toEqual([UP, "load"]);
    });
  });

  test("asks a server eight queries at once at most", async () => {
    const queries = Array.from({ length: 40 }, (_, index) => `load_${index}`);
    for (const query of queries)
      server.replies.set(query, (response, request) => setTimeout(() => vector("0")(response, request), 5));
    const readings = await Promise.all(queries.map((query) => read(metadataOf({ query }))));
    expect(readings.every(({ verdict }) => verdict === "idle")).toBe(true);
    expect(server.most).toBe(8);
  });

  test("is one of several, each with its reading in its place", async () => {
    server.replies.set("load", vector("0")).set("jobs", vector("7"));
    const all = ["jobs", "load", "gone"].map((query) => ({
      type: "prometheus" as const,
      metadata: metadataOf({ query }),
    }));
    const readings = await triggers.read({ namespace: "shop", triggers: all, cooldown: 900_000 }, never);
    expect(readings.map(({ trigger, verdict }) => `${trigger} ${verdict}`)).toEqual([
      "prometheus jobs busy",
      "prometheus load idle",
      "prometheus gone unknown",
    ]);
  });

  test("is not read if there are more than 32, and then something is unknown", async () => {
    server.replies.set("load", vector("0"));
    const all = Array.from({ length: 33 }, () => ({ type: "prometheus" as const, metadata: metadataOf() }));
    const readings = await triggers.read({ namespace: "shop", triggers: all, cooldown: 900_000 }, never);
    expect(readings).toHaveLength(33);
    expect(readings.at(-1)).toMatchObject({ verdict: "unknown", message: expect.stringContaining("33 triggers") });
  });

  test("returns no readings without triggers", async () => {
    expect(await triggers.read({ namespace: "shop", triggers: [], cooldown: 900_000 }, never)).toEqual([]);
  });

  test("sends no request for an aborted signal, or after stop", async () => {
    const trigger = { type: "prometheus" as const, metadata: metadataOf() };
    await expect(
      triggers.read(
        { namespace: "shop", triggers: [trigger], cooldown: 900_000 },
        AbortSignal.abort(new Error("over")),
      ),
    ).rejects.toThrow("over");
    expect(server.asked).toEqual([]);
    await triggers.stop();
    await clock.advance(15_000);
    expect(await read(metadataOf())).toMatchObject({ verdict: "unknown" });
    expect(server.asked).toEqual([]);
  });
});
