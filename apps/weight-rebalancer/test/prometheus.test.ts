import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, type KubeClient, secrets as secretType } from "@evenkeel/kube";
import { MetricRegistry } from "@evenkeel/metrics";
import { systemClock } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";
import { type ApiServer, startApiServer } from "@evenkeel/sim";
import { ADMIN, kubeconfigFor } from "@evenkeel/testkit";
import { hasPrometheus, type RealPrometheus, startRealPrometheus } from "@evenkeel/world-contract";
import type { MetricFault, MetricReading } from "../src/decide/snapshot.ts";
import { metrics } from "../src/metrics.ts";
import type { PrometheusSpec } from "../src/observe/prometheus/authorization.ts";
import { PrometheusSources } from "../src/observe/prometheus/prometheus-sources.ts";
import type { SecretReader } from "../src/observe/secret-reader.ts";
import { KubeSecrets } from "../src/observe/secrets.ts";

/** When the series were recorded: a moment ago, in seconds since the epoch. */
const RECORDED = Math.floor(Date.now() / 1000) - 30;
/** Five minutes of a counter that grows by 3,000 a second on two sites, one sample each ten seconds. */
const REQUESTS = Array.from({ length: 31 }, (_, index) => ({
  time: RECORDED - 300 + index * 10,
  value: index * 30_000,
}));

const OPEN_METRICS = [
  "# TYPE requests counter",
  ...["a", "b"].flatMap((site) => REQUESTS.map(({ time, value }) => `requests_total{site="${site}"} ${value} ${time}`)),
  "# TYPE load gauge",
  `load{site="a"} 0.1 ${RECORDED}`,
  `load{site="b"} 0.2 ${RECORDED}`,
  "# TYPE not_a_number gauge",
  `not_a_number NaN ${RECORDED}`,
  "# TYPE mixed gauge",
  `mixed{site="a"} 5 ${RECORDED}`,
  `mixed{site="b"} NaN ${RECORDED}`,
  "# TYPE endless gauge",
  `endless +Inf ${RECORDED}`,
  "# TYPE huge gauge",
  `huge 1e21 ${RECORDED}`,
  "# TYPE fraction gauge",
  `fraction 3000.5 ${RECORDED}`,
  "# EOF\n",
].join("\n");

/** A bcrypt hash of `test`, as Prometheus's own page on basic authentication has it. */
const WEB_CONFIG = "basic_auth_users:\n  admin: $2b$12$hNf2lSsxfm0.i4a.1kVpSOVyBCfIB51VRjgBUyv6kdnyTlgWj81Ay\n";

/** Sorts ten thousand values ten thousand times: many seconds of work. */
const SLOW = "max_over_time(quantile_over_time(0.5, vector(time() % 97)[10000s:1s])[10000s:1s])";

const never = new AbortController().signal;

const noSecrets: SecretReader = { read: () => Promise.reject(new Error("no Secret is asked for")) };

function sourcesWith(secrets: SecretReader): PrometheusSources {
  return new PrometheusSources({
    clock: systemClock,
    log: silentLog(),
    secrets,
    proxyFor: () => undefined,
    queries: new MetricRegistry().register({ queries: metrics.queries }).queries,
  });
}

if (hasPrometheus()) {
  describe("a real Prometheus with recorded series", recorded);
  describe("a real Prometheus that asks for a password", guarded);
} else test.skip("a real Prometheus: it is not installed (Debian: prometheus)", () => undefined);

function recorded(): void {
  let prometheus: RealPrometheus;
  const sources = sourcesWith(noSecrets);
  beforeAll(async () => {
    prometheus = await startRealPrometheus(OPEN_METRICS);
  }, 60_000);
  afterAll(async () => {
    await sources.stop();
    await prometheus.stop();
  });

  const ask = (query: string, more: Partial<PrometheusSpec> = {}): Promise<MetricReading> =>
    sources.source("default", { address: prometheus.url, query, timeout: 30, ...more }).read(never);

  test("gives the value of a vector with one sample", async () => {
    const reading = await ask('load{site="a"}');
    expect(reading).toMatchObject({ source: `prometheus ${prometheus.url}`, value: "0.1", fault: null });
    expect(Math.abs(Date.parse(reading.sampledAt ?? "") - Date.now())).toBeLessThan(60_000);
  });

  test("gives the value of the original's example query, which is a vector too", async () => {
    expect((await ask('sum(irate(requests_total{site="a"}[5m]))')).value).toBe("3000");
  });

  test.each([
    ["a scalar", 'scalar(load{site="a"})', "0.1"],
    ["a number", "42", "42"],
    ["a fraction", "fraction", "3000.5"],
    ["a huge value with an exponent", "huge", "1e+21"],
    ["a huge scalar without one", "scalar(huge)", "1000000000000000000000"],
  ])("gives the value of %s", async (_name, query, value) => {
    expect(await ask(query)).toMatchObject({ value, fault: null });
  });

  test.each([
    ["sum", "0.3"],
    ["avg", "0.15"],
    ["max", "0.2"],
    ["min", "0.1"],
  ] as const)("gives the %s of two series, exactly", async (reducer, value) => {
    expect((await ask("load", { reducer })).value).toBe(value);
  });

  test.each<[string, string, Partial<PrometheusSpec>, MetricFault, RegExp]>([
    ["an empty vector", "absent", {}, "NoData", /sample/],
    ["an empty vector that is reduced", "absent", { reducer: "sum" }, "NoData", /sample/],
    ["two series", "load", {}, "ManySeries", /2 series/],
    ["NaN", "not_a_number", {}, "NotANumber", /NaN/],
    ["scalar() of nothing", "scalar(absent)", {}, "NotANumber", /NaN/],
    ["a division by zero", "1 / 0", {}, "NotANumber", /\+Inf/],
    ["infinity", "-endless", {}, "NotANumber", /-Inf/],
    ["NaN among others", "mixed", { reducer: "max" }, "NotANumber", /2.*NaN/],
    ["a range", "load[5m]", {}, "QueryFailed", /range/],
    ["a text", '"text"', {}, "QueryFailed", /text/],
    ["a wrong query", "sum(load", {}, "QueryFailed", /bad_data: .*parse error/],
    ["a query that cannot be carried out", "load * on() group_left() load", {}, "QueryFailed", /execution: /],
    ["an address with a wrong path", "load", { address: "/wrong" }, "QueryFailed", /404/],
  ])("gives no number for %s", async (_name, query, more, fault, message) => {
    const address = `${prometheus.url}${more.address ?? ""}`;
    const reading = await ask(query, { ...more, address });
    expect(reading).toMatchObject({ value: null, fault });
    expect(reading.message).toMatch(message);
  });

  test("takes a query that is too long for an address", async () => {
    expect((await ask(`sum(load{site=~"${"x|".repeat(5000)}a"})`)).value).toBe("0.1");
  });

  test("gives up a query that takes too long, and answers others meanwhile", async () => {
    const slow = ask(SLOW, { timeout: 1 });
    expect((await ask("42")).value).toBe("42");
    const reading = await slow;
    expect(reading).toMatchObject({ value: null, fault: "QueryFailed" });
  });

  test("that is dead gives no number, and another one still does", async () => {
    const other = await startRealPrometheus(OPEN_METRICS);
    const source = sources.source("default", { address: other.url, query: "42", timeout: 30 });
    expect((await source.read(never)).value).toBe("42");
    await other.stop();
    const reading = await source.read(never);
    expect(reading).toMatchObject({ value: null, fault: "QueryFailed" });
    const again = await source.read(never);
    expect(again.message).toContain("ECONNREFUSED");
    expect((await ask("42")).value).toBe("42");
  }, 60_000);
}

function guarded(): void {
  let prometheus: RealPrometheus;
  let server: ApiServer;
  let kube: KubeClient;
  let sources: PrometheusSources;
  const folder = mkdtempSync(join(tmpdir(), "evenkeel-guarded-"));
  beforeAll(async () => {
    prometheus = await startRealPrometheus(OPEN_METRICS, WEB_CONFIG);
    server = await startApiServer({ users: [ADMIN] });
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, kubeconfigFor(server.url));
    const limits = { kubeDeadline: 10_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 1 };
    kube = connectKube({ settings: { kubeconfig, kubeContext: undefined, ...limits }, env: {}, userAgent: "test" });
    const resource = kube.resource(secretType);
    // As `echo … | base64` makes them.
    const stringData = { user: "admin\n", password: "test\n", wrong: "other-word" };
    await resource.create({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "default", name: "login" },
      data: Object.fromEntries(
        Object.entries(stringData).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
      ),
    });
    sources = sourcesWith(new KubeSecrets({ resource, clock: systemClock, allowCrossNamespace: false }));
  }, 60_000);
  afterAll(async () => {
    await sources.stop();
    await kube.stop();
    await server.stop();
    await prometheus.stop();
    rmSync(folder, { recursive: true });
  });

  const ask = (more: Partial<PrometheusSpec> = {}): Promise<MetricReading> =>
    sources.source("default", { address: prometheus.url, query: "42", timeout: 30, ...more }).read(never);

  const authOf = (passwordKey: string): NonNullable<PrometheusSpec["auth"]> => ({
    secretRef: {
      userSecretRef: { name: "login", key: "user" },
      passwordSecretRef: { name: "login", key: passwordKey },
    },
  });

  test("refuses who has none", async () => {
    const reading = await ask();
    expect(reading).toMatchObject({ value: null, fault: "QueryFailed" });
    expect(reading.message).toContain("401");
  });

  test("refuses a wrong one, which nobody gets to see", async () => {
    const reading = await ask({ auth: authOf("wrong") });
    expect(reading.message).toContain("401");
    expect(JSON.stringify(reading)).not.toContain("other-word");
  });

  test("answers who has the one of the Secret, or of the address", async () => {
    expect((await ask({ auth: authOf("password") })).value).toBe("42");
    const address = prometheus.url.replace("//", "//admin:test@");
    expect(await ask({ address })).toMatchObject({ source: `prometheus ${prometheus.url}`, value: "42" });
  });

  test("is not asked while the Secret lacks the key", async () => {
    expect((await ask({ auth: authOf("gone") })).message).toMatch(/default\/login.*gone/);
  });
}
