import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Prometheus, type Series, startPrometheus } from "@evenkeel/sim";
import { hasPrometheus, type RealPrometheus, startRealPrometheus } from "../src/index.ts";

/** 2026-01-01T00:00:00Z in seconds since the epoch. */
const TIME = 1_767_225_600;

/** Samples in OpenMetrics text, each taken once, at TIME. */
const SAMPLES: readonly (readonly [name: string, labels: Record<string, string>, value: string])[] = [
  ["load", { site: "a" }, "3"],
  ["load", { site: "b", zone: 'quoted "1"' }, "4.5"],
  ["not_a_number", {}, "NaN"],
  ["endless", { sign: "plus" }, "+Inf"],
  ["endless", { sign: "minus" }, "-Inf"],
  ["huge", {}, "1e21"],
  ["tiny", {}, "1.5e-7"],
  ["thirds", {}, "0.30000000000000004"],
  ["negative", {}, "-2"],
  ["zero", {}, "0"],
];

const OPEN_METRICS = [...new Set(SAMPLES.map(([name]) => name))]
  .flatMap((name) => [
    `# TYPE ${name} gauge`,
    ...SAMPLES.filter(([of]) => of === name).map(([, labels, value]) => {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
      return `${name}{${pairs.join(",")}} ${value} ${TIME}`;
    }),
  ])
  .concat("# EOF\n")
  .join("\n");

const SERIES: readonly Series[] = SAMPLES.map(([name, labels, value]) => ({
  metric: { ...labels, __name__: name },
  value: (seconds) => (seconds === TIME ? Number(value.replace("Inf", "Infinity")) : undefined),
}));

/** What Prometheus's own page on basic authentication has: the bcrypt hash of `test`. */
const WEB_CONFIG = "basic_auth_users:\n  admin: $2b$12$hNf2lSsxfm0.i4a.1kVpSOVyBCfIB51VRjgBUyv6kdnyTlgWj81Ay\n";

interface Answered {
  readonly status: number;
  readonly type: string | null;
  readonly body: string;
}

async function ask(url: string, path: string, init: RequestInit = {}): Promise<Answered> {
  const response = await fetch(`${url}/api/v1/${path}`, init);
  return { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
}

const path = (of: string, parameters: Readonly<Record<string, string>>): string =>
  `${of}?${new URLSearchParams(parameters).toString()}`;

if (hasPrometheus()) describe("the embedded Prometheus answers as the real one", comparisons);
else
  test.skip("the embedded Prometheus answers as the real one: it is not installed (Debian: prometheus)", () =>
    undefined);

function comparisons(): void {
  let real: RealPrometheus;
  let embedded: Prometheus;
  beforeAll(async () => {
    real = await startRealPrometheus(OPEN_METRICS);
    embedded = await startPrometheus({ series: SERIES });
  }, 60_000);
  afterAll(async () => {
    await Promise.all([real.stop(), embedded.stop()]);
  });

  const both = (of: string, init?: RequestInit): Promise<[Answered, Answered]> =>
    Promise.all([ask(embedded.url, of, init), ask(real.url, of, init)]);

  test.each<[string, string, string]>([
    ["a selector of several series", "load", `${TIME}`],
    ["a selector of one series", 'load{site="a"}', `${TIME}`],
    ["a selector without a name", '{site="a"}', `${TIME}`],
    ["a selector with spaces and a comma at its end", ' load { site = "a" , } ', `${TIME}`],
    ["a selector by a quoted value", 'load{zone="quoted \\"1\\""}', `${TIME}`],
    ["a selector of what is not equal", 'load{site!="a"}', `${TIME}`],
    ["a selector of an absent label", 'load{zone=""}', `${TIME}`],
    ["a selector that fits nothing", 'load{site="c"}', `${TIME}`],
    ["a sum", "sum(load)", `${TIME}`],
    ["a sum of nothing", "sum(absent)", `${TIME}`],
    ["a sum of infinities", "sum(endless)", `${TIME}`],
    ["a sum of NaN", "sum(not_a_number)", `${TIME}`],
    ["NaN", "not_a_number", `${TIME}`],
    ["infinities", "endless", `${TIME}`],
    ["a huge value", "huge", `${TIME}`],
    ["a tiny value", "tiny", `${TIME}`],
    ["a value of many digits", "thirds", `${TIME}`],
    ["a negative value", "negative", `${TIME}`],
    ["zero", "zero", `${TIME}`],
    ["a number", "42", `${TIME}`],
    ["a scalar", 'scalar(load{site="b"})', `${TIME}`],
    ["a scalar of nothing", "scalar(absent)", `${TIME}`],
    ["a scalar of several series", "scalar(load)", `${TIME}`],
    ["a huge scalar", "scalar(huge)", `${TIME}`],
    ["a tiny scalar", "scalar(tiny)", `${TIME}`],
    ["an endless scalar", 'scalar(endless{sign="minus"})', `${TIME}`],
    ["a scalar of a sum", "scalar(sum(load))", `${TIME}`],
    ["a time with a fraction", "sum(load)", `${TIME}.25`],
    ["a scalar at a time with a fraction", "scalar(sum(load))", `${TIME}.25`],
    ["a time in words", "load", "2026-01-01T01:00:00+01:00"],
    ["a sample of the last moment before it is stale", "load", `${TIME + 300}`],
    ["a stale sample", "load", `${TIME + 301}`],
    ["a time before the first sample", "load", `${TIME - 1}`],
  ])("to %s, byte for byte", async (_name, query, time) => {
    const [ours, theirs] = await both(path("query", { query, time }));
    expect(theirs.status).toBe(200);
    expect(ours).toEqual(theirs);
  });

  test.each<[string, Record<string, string>]>([
    ["an empty query", { query: "" }],
    ["a time that is none", { query: "load", time: "yesterday" }],
    ["a timeout that is none", { query: "load", timeout: "1x" }],
  ])("to %s, byte for byte", async (_name, parameters) => {
    const [ours, theirs] = await both(path("query", parameters));
    expect(theirs.status).toBe(400);
    expect(ours).toEqual(theirs);
  });

  test.each(["load{", "sum(load", "load}", 'load{site="a}', "sum(42)"])(
    "to the broken query %s with the same kind of error",
    async (query) => {
      const [ours, theirs] = await both(path("query", { query, time: `${TIME}` }));
      const kind = { status: "error", errorType: "bad_data" };
      expect([ours.status, theirs.status]).toEqual([400, 400]);
      expect([JSON.parse(ours.body), JSON.parse(theirs.body)]).toMatchObject([kind, kind]);
    },
  );

  test("to errors of execution and of time, byte for byte, once it is given their texts", async () => {
    const clash = "load * on() group_left() load";
    const theirs = await ask(real.url, path("query", { query: clash, time: `${TIME}` }));
    const { error } = JSON.parse(theirs.body) as { error: string };
    const takeBack = embedded.answer(clash, () => ({ kind: "error", errorType: "execution", error }));
    expect(await ask(embedded.url, path("query", { query: clash, time: `${TIME}` }))).toEqual(theirs);
    takeBack();
    const late = await ask(real.url, path("query", { query: "load", timeout: "0.000000001" }));
    const words = (JSON.parse(late.body) as { error: string }).error;
    embedded.answer("late", () => ({ kind: "error", errorType: "timeout", error: words }));
    expect(late.status).toBe(503);
    expect(await ask(embedded.url, path("query", { query: "late" }))).toEqual(late);
  });

  test("to a form by POST, which goes before the address", async () => {
    const body = new URLSearchParams({ query: 'load{site="a"}', time: `${TIME}` });
    const [ours, theirs] = await both("query?query=zero", { method: "POST", body });
    expect(JSON.parse(theirs.body)).toMatchObject({ data: { result: [{ metric: { site: "a" } }] } });
    expect(ours).toEqual(theirs);
  });

  test("to other methods and paths", async () => {
    const [ours, theirs] = await both("query?query=zero", { method: "PUT" });
    expect(ours).toEqual(theirs);
    const [nowhere, either] = await both("nowhere");
    expect(nowhere).toEqual(either);
  });

  test.each<[string, Record<string, string>]>([
    ["lines of several series", { query: "load", start: `${TIME - 60}`, end: `${TIME + 420}`, step: "60" }],
    ["a line of a scalar", { query: "scalar(absent)", start: `${TIME}`, end: `${TIME + 1}`, step: "500ms" }],
    ["no line", { query: "absent", start: `${TIME}`, end: `${TIME + 60}`, step: "1m" }],
    ["an end before the start", { query: "load", start: `${TIME}`, end: `${TIME - 1}`, step: "1" }],
    ["a step of nothing", { query: "load", start: `${TIME}`, end: `${TIME}`, step: "0" }],
    ["a step that is none", { query: "load", start: `${TIME}`, end: `${TIME}`, step: "" }],
    ["a start that is missing", { query: "load", end: `${TIME}`, step: "1" }],
    ["too many points", { query: "load", start: `${TIME}`, end: `${TIME + 11_001}`, step: "1" }],
  ])("to a range: %s, byte for byte", async (_name, parameters) => {
    const [ours, theirs] = await both(path("query_range", parameters));
    expect(ours).toEqual(theirs);
  });

  test("to whoever has no password, or a wrong one", async () => {
    const guarded = await startRealPrometheus(OPEN_METRICS, WEB_CONFIG);
    embedded.requireAuth({ kind: "basic", username: "admin", password: "test" });
    try {
      const of = path("query", { query: "load", time: `${TIME}` });
      for (const secret of [undefined, "admin:wrong", "admin:test"]) {
        const headers = secret && { authorization: `Basic ${Buffer.from(secret).toString("base64")}` };
        const init = headers ? { headers } : {};
        const theirs = await ask(guarded.url, of, init);
        expect(theirs.status).toBe(secret === "admin:test" ? 200 : 401);
        expect(await ask(embedded.url, of, init)).toEqual(theirs);
      }
    } finally {
      embedded.requireAuth(undefined);
      await guarded.stop();
    }
  });
}
