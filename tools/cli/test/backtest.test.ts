import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@evenkeel/runtime/testing";
import { hasPrometheus, type RealPrometheus, startRealPrometheus } from "@evenkeel/world-contract";
import { admin, ApiServerWithProxy, type Backends } from "./api-server.ts";
import { evenkeel } from "./evenkeel.ts";

const root = join(import.meta.dirname, "../../..");
const definition = join(root, "charts/weight-rebalancer/files/crds/rebalancer.ch1aki.github.io_rebalances.yaml");

const MINUTE = 60_000;
const END = Math.floor(Date.now() / MINUTE) * MINUTE;
const TO = new Date(END).toISOString();
/** A week of a load with a peak each day and a small wave each minute. */
const LOAD = Array.from({ length: 7 * 1440 + 1 }, (_, index) => {
  const at = END - (7 * 1440 - index) * MINUTE;
  const day = 1 - Math.cos((at / 86_400_000) * 2 * Math.PI);
  return { at, value: Math.round(1000 + 1500 * day + (index % 2) * 50) };
});
const OPEN_METRICS = [
  "# TYPE load gauge",
  ...LOAD.map(({ at, value }) => `load{site="all"} ${value} ${at / 1000}`),
  "# EOF\n",
].join("\n");

/** Everything that is compared has the same object, metric and past. */
const rebalance = (name: string, address: string, tracking: object = {}) => ({
  apiVersion: "rebalancer.ch1aki.github.io/v1",
  kind: "Rebalance",
  metadata: { namespace: "shop", name },
  spec: {
    interval: "1m",
    policy: { targettracking: { targetValue: 1000, baseValue: 8, ...tracking } },
    target: {
      route53: { hostedZoneID: "Z1", resource: { name: "www.example.com", type: "A", identifier: "blue" } },
    },
    metrics: { prometheus: { address, query: "sum(load)" } },
  },
});

interface Figures {
  readonly steps: number;
  readonly policy: { readonly changes: number; readonly overload: number; readonly highest: number };
  readonly original: Figures["policy"];
}

if (hasPrometheus()) describe("backtest on a week of a real Prometheus", backtests);
else test.skip("backtest: Prometheus is not installed (Debian: prometheus)", () => undefined);

function backtests(): void {
  const backends: Backends = new Map();
  let prometheus: RealPrometheus;
  let server: ApiServerWithProxy;
  let folder: string;
  let env: Readonly<Record<string, string>>;
  beforeAll(async () => {
    prometheus = await startRealPrometheus(OPEN_METRICS);
    server = await ApiServerWithProxy.start(backends);
    folder = await mkdtemp(join(tmpdir(), "backtest-"));
    env = { KUBECONFIG: await server.kubeconfig(admin) };
    backends.set("monitoring/prometheus:9090", prometheus.url);
    server.api.load(await readFile(definition, "utf8"));
    server.api.load("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}");
    const inCluster = "http://prometheus.monitoring.svc.cluster.local:9090";
    const objects = [
      rebalance("plain", prometheus.url),
      rebalance("calm", prometheus.url, { tolerance: 0.1, maxStepDown: 4 }),
      rebalance("within", inCluster),
      rebalance("away", "http://127.0.0.1:9"),
    ];
    await eventually(() => server.api.load(JSON.stringify(objects[0])));
    for (const object of objects.slice(1)) server.api.load(JSON.stringify(object));
  }, 90_000);
  afterAll(async () => {
    await prometheus.stop();
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  const figures = async (name: string, ...flags: string[]): Promise<Figures> => {
    const { code, stdout, stderr } = await evenkeel(
      ["backtest", `rebalance/shop/${name}`, "--from", "7d", "--to", TO, ...flags, "-o", "json"],
      { env },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return JSON.parse(stdout) as Figures;
  };

  test("counts the changes of the original's rule as its formula gives them", async () => {
    const { steps, policy, original } = await figures("plain");
    expect(steps).toBe(LOAD.length);
    const weights = LOAD.map(({ value }) => Math.ceil(8 * Math.max(0, value / 1000 - 1)));
    expect(original.changes).toBe(weights.filter((weight, index) => index > 0 && weight !== weights[index - 1]).length);
    expect(original.highest).toBe(Math.max(...weights));
    // A policy without options is the original's rule with exact numbers.
    expect(policy).toEqual(original);
  });

  test("shows that a tolerance and a step limit change the weight less often", async () => {
    const { policy, original } = await figures("calm");
    expect(policy.changes).toBeGreaterThan(0);
    expect(policy.changes).toBeLessThan(original.changes / 5);
  });

  test("reaches a Prometheus of the cluster through the API server, with the same figures, in bounded parts", async () => {
    const [direct, proxied] = [await figures("plain"), await figures("within")];
    expect({ ...proxied, rebalance: {} }).toEqual({ ...direct, rebalance: {} });
    const asked = server.forwarded.filter((line) => line.includes("/api/v1/query_range?"));
    expect(asked.length).toBe(Math.ceil(proxied.steps / 2000));
  });

  test("asks another server with --prometheus, prints a table and draws an SVG", async () => {
    const svg = join(folder, "plain.svg");
    const { code, stdout } = await evenkeel(
      ["backtest", "rebalance", "shop/away", "--from", "2d", "--prometheus", prometheus.url, "--svg", svg],
      { env },
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^MEASURE +THIS POLICY +ORIGINAL'S RULE$/m);
    expect(stdout).toMatch(/^changes of the weight +\d+ +\d+$/m);
    const drawn = await readFile(svg, "utf8");
    expect(drawn).toMatch(/^<svg /);
    expect(drawn.match(/<polyline /g)?.length).toBeGreaterThanOrEqual(4);
  });

  test("says which server does not answer, and what to do", async () => {
    const { code, stderr } = await evenkeel(["backtest", "rebalance/shop/away"], { env });
    expect(code).toBe(1);
    expect(stderr).toContain("EK_CLI_NO_HISTORY");
    expect(stderr).toContain("http://127.0.0.1:9");
  });
}
