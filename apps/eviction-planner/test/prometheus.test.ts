import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parseAddress, PrometheusClient } from "@evenkeel/prometheus";
import { systemClock } from "@evenkeel/runtime";
import { hasPrometheus, type RealPrometheus, startRealPrometheus } from "@evenkeel/world-contract";
import { UnusableUsage } from "../src/errors.ts";
import { prometheusUsage, type UsageQueries } from "../src/observe/usage/prometheus-usage.ts";
import { settings } from "../src/settings.ts";

/** Seconds since the epoch: a moment ago. */
const RECORDED = Math.floor(Date.now() / 1000) - 10;
const RUN = Array.from({ length: 31 }, (_, index) => ({ time: RECORDED - 300 + index * 10, seconds: index * 10 }));

/** Series as cAdvisor has them: seconds of CPU grow by `cores` a second. */
const cpu = (labels: string, cores: number): readonly string[] =>
  RUN.map(({ time, seconds }) => `container_cpu_usage_seconds_total{${labels}} ${seconds * cores} ${time}`);

const MANY = 20_000;

const OPEN_METRICS = [
  "# TYPE container_cpu_usage_seconds counter",
  ...cpu('node="a",id="/"', 2.5),
  ...cpu('node="b",id="/"', 0.5),
  ...cpu('node="a",id="/x",namespace="shop",pod="web",container="main"', 0.25),
  ...cpu('node="a",id="/y",namespace="shop",pod="web",container="sidecar"', 0.05),
  "# TYPE container_memory_working_set_bytes gauge",
  `container_memory_working_set_bytes{node="a",id="/"} 8e9 ${RECORDED}`,
  `container_memory_working_set_bytes{node="b",id="/"} NaN ${RECORDED}`,
  `container_memory_working_set_bytes{node="a",id="/x",namespace="shop",pod="web",container="main"} 5e8 ${RECORDED}`,
  "# TYPE many gauge",
  ...Array.from({ length: MANY }, (_, index) => `many{namespace="shop",pod="pod-${index}"} ${index} ${RECORDED}`),
  "# EOF\n",
].join("\n");

(hasPrometheus() ? describe : describe.skip)("usage from a real Prometheus (needs prometheus and promtool)", () => {
  let prometheus: RealPrometheus;
  let client: PrometheusClient;
  beforeAll(async () => {
    prometheus = await startRealPrometheus(OPEN_METRICS);
    const advice = { address: "", credentials: "", permission: "", load: "", time: "", trust: "", handshake: "" };
    const proxyFor = () => undefined;
    client = new PrometheusClient({
      ...{ clock: systemClock, userAgent: "test", proxyFor },
      advice: { ...advice, clientCertificate: "" },
    });
  }, 60_000);
  afterAll(async () => {
    await client.stop();
    await prometheus.stop();
  });

  const byDefault: UsageQueries = {
    nodeCpu: settings.prometheusNodeCpuQuery.default ?? "",
    nodeMemory: settings.prometheusNodeMemoryQuery.default ?? "",
    podCpu: settings.prometheusPodCpuQuery.default ?? "",
    podMemory: settings.prometheusPodMemoryQuery.default ?? "",
  };
  const read = (queries: Partial<UsageQueries> = {}, limit?: number) => {
    const address = parseAddress(prometheus.url);
    if (address === undefined) throw new Error("no address");
    const source = prometheusUsage({
      ...{ client, address, queries: { ...byDefault, ...queries }, timeout: 20_000 },
      ...(limit !== undefined && { limit }),
    });
    return source.read(new AbortController().signal);
  };

  test("is found by the default queries", async () => {
    const { nodes, pods } = await read();
    // The last samples are some seconds old, so that a rate is a little less.
    const isNear = (found = NaN, expected: number) => found > 0.9 * expected && found < 1.02 * expected;
    expect(isNear(nodes.get("a")?.cpu, 2500)).toBe(true);
    expect(nodes.get("a")?.memory).toBe(8e9);
    expect(nodes.get("b")?.memory).toBeNaN();
    expect(isNear(pods.get("shop/web")?.cpu, 300)).toBe(true);
    expect(pods.get("shop/web")).toMatchObject({ memory: 5e8, window: 300_000 });
    expect(Math.abs((nodes.get("a")?.at ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  test("of many pods is more than the default limit of an answer", async () => {
    const { pods } = await read({ podCpu: "many", podMemory: "many" });
    expect(pods.size).toBe(MANY);
  });

  test.each([
    ["without labels", { podCpu: "sum(many)" }, "--prometheus-pod-cpu-query"],
    ["of a range", { nodeMemory: "many[5m]" }, "--prometheus-node-memory-query"],
    ["that is no PromQL", { nodeCpu: "sum(" }, "--prometheus-node-cpu-query"],
    ["without a sample", { podMemory: "absent_metric" }, "--prometheus-pod-memory-query"],
  ])("is refused if it comes from a query %s", async (_name, queries, flag) => {
    const error = await read(queries).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnusableUsage);
    expect((error as Error).message).toContain(flag);
  });

  test("is refused if the answer is too large", async () => {
    await expect(read({ podCpu: "many" }, 100_000)).rejects.toThrow("100000 bytes");
  });
});
