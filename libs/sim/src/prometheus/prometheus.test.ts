import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import { type Prometheus, startPrometheus } from "./prometheus.ts";
import type { Series } from "./series.ts";

const START = Date.parse("2026-01-01T00:00:00Z") / 1000;

/** Grows by one a second until it ends, ten seconds after the start. */
const growing: Series = {
  metric: { __name__: "growing", site: "a" },
  value: (seconds) => (seconds <= START + 10 ? seconds - START : undefined),
};

interface Body {
  readonly status: string;
  readonly errorType?: string;
  readonly error?: string;
  readonly data?: { readonly resultType: string; readonly result: unknown };
}

describe("the embedded Prometheus", () => {
  let clock: FakeClock;
  let prometheus: Prometheus;
  beforeEach(async () => {
    clock = new FakeClock(START * 1000);
    prometheus = await startPrometheus({ clock, series: [growing] });
  });
  afterEach(() => prometheus.stop());

  const ask = async (query: string, headers: Record<string, string> = {}): Promise<{ code: number; body: Body }> => {
    const response = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(query)}`, { headers });
    const text = await response.text();
    return { code: response.status, body: text.startsWith("{") ? (JSON.parse(text) as Body) : { status: text.trim() } };
  };
  const result = async (query: string): Promise<unknown> => (await ask(query)).body.data?.result;

  test("answers for the clock's time unless it is told another", async () => {
    await clock.advance(7000);
    expect(await result("growing")).toEqual([{ metric: growing.metric, value: [START + 7, "7"] }]);
  });

  test("returns the last sample for five minutes and then none", async () => {
    await clock.advance(310_000);
    expect(await result("sum(growing)")).toEqual([{ metric: {}, value: [START + 310, "10"] }]);
    await clock.advance(1);
    expect(await result("sum(growing)")).toEqual([]);
  });

  test("takes samples at its interval and not between", async () => {
    const slow = await startPrometheus({ clock, series: [growing], interval: 5 });
    await clock.advance(9999);
    const response = await fetch(`${slow.url}/api/v1/query?query=scalar(growing)`);
    expect(await response.json()).toMatchObject({ data: { result: [START + 9.999, "5"] } });
    await slow.stop();
  });

  test("sees other series once it is fed with them", async () => {
    prometheus.feed([{ metric: { __name__: "steady" }, value: () => 3 }]);
    expect(await result("growing")).toEqual([]);
    expect(await result("scalar(steady)")).toEqual([START, "3"]);
  });

  test("gives the answer to an exact text until it is taken back", async () => {
    const query = "sum(rate(requests_total[5m]))";
    const takeBack = prometheus.answer(query, (seconds) => ({
      kind: "vector",
      samples: [{ metric: {}, value: seconds - START }],
    }));
    await clock.advance(2000);
    expect(await result(query)).toEqual([{ metric: {}, value: [START + 2, "2"] }]);
    takeBack();
    expect((await ask(query)).code).toBe(501);
  });

  test.each([
    ["bad_data", 400],
    ["execution", 422],
    ["internal", 500],
    ["timeout", 503],
    ["unavailable", 503],
  ] as const)("answers %s with %d", async (errorType, code) => {
    prometheus.answer("broken", () => ({ kind: "error", errorType, error: "why" }));
    expect(await ask("broken")).toEqual({ code, body: { status: "error", errorType, error: "why" } });
  });

  test.each([
    "rate(growing[5m])",
    'growing{site=~"a|b"}',
    "growing + 1",
    "sum by (site) (growing)",
    "sum(growing) / sum(growing)",
  ])("says of %s that it does not understand it, instead of a wrong answer", async (query) => {
    const { code, body } = await ask(query);
    expect({ code, status: body.status }).toEqual({ code: 501, status: "error" });
    expect(body.error).toContain("does not understand");
  });

  test("lets in whoever has the token or the password that it asks for", async () => {
    prometheus.requireAuth({ kind: "bearer", token: "t" });
    expect((await ask("growing")).code).toBe(401);
    expect((await ask("growing", { authorization: "Bearer other" })).code).toBe(401);
    expect((await ask("growing", { authorization: "Bearer t" })).code).toBe(200);
    prometheus.requireAuth({ kind: "basic", username: "u", password: "p" });
    expect((await ask("growing", { authorization: "Bearer t" })).code).toBe(401);
    expect((await ask("growing", { authorization: `Basic ${btoa("u:p")}` })).code).toBe(200);
    prometheus.requireAuth(undefined);
    expect((await ask("growing")).code).toBe(200);
  });

  test("fails on the wire when it is told to", async () => {
    prometheus.faults.add({ fault: { kind: "status", code: 429 }, times: 1 });
    prometheus.faults.add({ fault: { kind: "reset" }, times: 1 });
    expect((await ask("growing")).code).toBe(429);
    await expect(ask("growing")).rejects.toThrow();
    expect((await ask("growing")).code).toBe(200);
  });

  test("refuses an interval that is no time", async () => {
    await expect(startPrometheus({ interval: 0 })).rejects.toThrow(RangeError);
  });
});
