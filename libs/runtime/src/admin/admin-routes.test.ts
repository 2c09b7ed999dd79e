import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { counter, MetricRegistry } from "@evenkeel/metrics";
import { type Decision, DecisionRing } from "../decision/index.ts";
import { adminRoutes, ownDecisionRoutes } from "./admin-routes.ts";
import { HttpServer } from "./http-server.ts";
import type { Status } from "./status-page.ts";

const decision = (id: string, name: string, reason: string): Decision => ({
  id,
  at: "2026-01-01T00:00:00Z",
  object: { kind: "Tank", namespace: "ship", name },
  action: "pump",
  reason,
  before: 1,
  after: 2,
  message: "<script>alert(1)</script>",
  dryRun: false,
});

let server: HttpServer;
let ring: DecisionRing;
beforeEach(async () => {
  const metrics = new MetricRegistry();
  metrics.register({ seen: counter("seen_total", "Seen.", {}) });
  ring = new DecisionRing();
  server = new HttpServer({ name: "admin", host: "127.0.0.1", port: 0, flag: "admin-port" });
  adminRoutes(server.routes, {
    metrics,
    status: async (): Promise<Status> => ({
      service: "<script>alert(2)</script>",
      summary: "Keeps level",
      version: "1.0.0",
      phase: "running",
      uptime: 1000,
      unready: [{ name: "cache", reason: "<script>alert(3)</script>" }],
      settings: [{ name: "target", value: "<script>alert(4)</script>", source: "default" }],
      decisions: await ring.list({}, 20),
    }),
  });
  const recording = (id: string) => (id === "c0ffee" ? '{"recording":1}\n' : undefined);
  ownDecisionRoutes(server.routes, { decisions: ring, recording });
  await server.start();
});
afterEach(() => server.stop(AbortSignal.abort()));

const ask = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);
const body = async (path: string) => (await (await ask(path)).json()) as Record<string, unknown>;

describe("/metrics", () => {
  test("is the exposition text, with the type that Prometheus expects", async () => {
    const response = await ask("/metrics");
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await response.text()).toContain("seen_total 0\n");
  });
});

describe("the status", () => {
  test("is a page in which nothing that was planted runs", async () => {
    ring.record(decision("1", "<script>alert(5)</script>", "<script>alert(6)</script>"));
    const response = await ask("/");
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const page = await response.text();
    expect(page).not.toContain("<script");
    for (const number of [1, 2, 3, 4, 5, 6]) expect(page).toContain(`&lt;script&gt;alert(${number})&lt;/script&gt;`);
  });

  test("has its style in a file of its own, as the content security policy asks", async () => {
    const response = await ask("/status.css");
    expect(response.headers.get("content-type")).toBe("text/css; charset=utf-8");
    expect(await response.text()).toContain("body {");
  });

  test("is also JSON, for programs", async () => {
    expect(await body("/api/v1/Runtime/Status")).toMatchObject({ phase: "running", uptime: 1000, decisions: [] });
  });
});

test.each(["/", "/metrics", "/status.css", "/api/v1/Decisions/List", "/api/v1/Decisions/Snapshot?id=1", "/nowhere"])(
  "%s may not be cached, framed, sniffed or run scripts",
  async (path) => {
    const { headers } = await ask(path);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  },
);

describe("/api/v1/Decisions/List", () => {
  const ids = async (query: string) => {
    const { decisions } = (await body(`/api/v1/Decisions/List${query}`)) as { decisions: Decision[] };
    return decisions.map(({ id }) => id);
  };

  test.each([
    ["", ["3", "2", "1"]],
    ["?limit=2", ["3", "2"]],
    ["?object=Tank/ship/port", ["3", "1"]],
    ["?object=Tank%2Fship%2Fport&limit=1", ["3"]],
    ["?reason=TooHigh", ["3"]],
    ["?action=pump&reason=TooLow", ["2", "1"]],
    ["?action=hold", []],
    ["?object=", []],
  ])("with %j has %j", async (query, expected) => {
    ring.record(decision("1", "port", "TooLow"));
    ring.record(decision("2", "starboard", "TooLow"));
    ring.record(decision("3", "port", "TooHigh"));
    expect(await ids(query)).toEqual(expected);
  });

  test("has the last 100 unless asked for more", async () => {
    for (let id = 0; id < 150; id++) ring.record(decision(String(id), "port", "TooLow"));
    expect(await ids("")).toHaveLength(100);
    expect(await ids("?limit=1000")).toHaveLength(150);
  });

  test.each([
    "limit=0",
    "limit=-1",
    "limit=1001",
    "limit=all",
    "limit=1.5",
    "limit=",
    "limit=1&limit=2",
    "object=a&object=b",
    `object=${"x".repeat(513)}`,
    "raeson=TooLow",
  ])("refuses ?%s with a code", async (query) => {
    const response = await ask(`/api/v1/Decisions/List?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "FST_ERR_VALIDATION" });
  });
});

describe("/api/v1/Decisions/Snapshot", () => {
  test("is a file to save", async () => {
    const response = await ask("/api/v1/Decisions/Snapshot?id=c0ffee");
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="c0ffee.json"');
    expect(await response.text()).toBe('{"recording":1}\n');
  });

  test("is 404 with a code when the recorder has it no more", async () => {
    const response = await ask("/api/v1/Decisions/Snapshot?id=abc");
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      code: "EK_RUNTIME_NO_RECORDING",
      message: expect.stringMatching(/\babc\b/),
    });
  });

  test.each([
    "",
    "?id=",
    "?id=../../etc/passwd",
    "?id=ABC",
    '?id=a"b',
    "?id=a%0d%0aset-cookie:x",
    `?id=${"a".repeat(65)}`,
  ])("refuses %j with a code", async (query) => {
    const response = await ask(`/api/v1/Decisions/Snapshot${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "FST_ERR_VALIDATION" });
  });
});
