import { describe, expect, test } from "@jest/globals";
import type { Query, QueryOutcome, Sample } from "@evenkeel/prometheus";
import { parseAddress } from "@evenkeel/prometheus";
import { UnusableUsage } from "../../errors.ts";
import { longestRange, prometheusUsage } from "./prometheus-usage.ts";
import { goDuration } from "./usage.ts";

test.each([
  ["15.033s", 15_033],
  ["1m0s", 60_000],
  ["1h2m3s", 3_723_000],
  ["200ms", 200],
  ["0", 0],
  ["0s", 0],
])("the duration %j is %d ms", (text, milliseconds) => {
  expect(goDuration(text)).toBeCloseTo(milliseconds);
});

test.each(["", "5", "1m x", "-1s"])("%j is no duration", (text) => {
  expect(goDuration(text)).toBeNaN();
});

test.each([
  ["rate(x[5m])", 300_000],
  ["max_over_time(rate(x[30s])[1h:1m])", 3_600_000],
  ['x{y="[5m]"} + z', 300_000],
  ["x", 0],
])("the longest range of %s is %d ms", (query, milliseconds) => {
  expect(longestRange(query)).toBe(milliseconds);
});

describe("usage from Prometheus", () => {
  const parsed = parseAddress("http://prometheus:9090");
  if (parsed === undefined) throw new Error("no address");
  const queries = {
    nodeCpu: "node_cpu[1m]",
    nodeMemory: "node_memory",
    podCpu: "pod_cpu[2m]",
    podMemory: "pod_memory",
  };
  const sample = (value: string, labels: Sample["labels"] = {}): Sample => ({ seconds: 100, value, labels });
  const answers: Record<string, readonly Sample[]> = {
    "node_cpu[1m]": [sample("1.5", { node: "a" }), sample("2", { node: "b" })],
    node_memory: [sample("1e9", { node: "a" }), sample("NaN", { node: "b" })],
    "pod_cpu[2m]": [sample("0.25", { namespace: "shop", pod: "web" }), sample("9", { pod: "nameless" })],
    pod_memory: [sample("100", { namespace: "shop", pod: "web" })],
  };
  const read = (changed: Record<string, readonly Sample[] | QueryOutcome> = {}) => {
    const query = ({ query: text }: Query): Promise<QueryOutcome> => {
      const answer = changed[text] ?? answers[text] ?? [];
      if ("kind" in answer) return Promise.resolve(answer);
      return Promise.resolve({ kind: "samples", resultType: "vector", samples: answer, warnings: [], askedAt: 0 });
    };
    const source = prometheusUsage({ client: { query }, address: parsed, queries, timeout: 1000 });
    return source.read(new AbortController().signal);
  };

  test("joins CPU and memory by labels, and knows the window", async () => {
    const { nodes, pods } = await read();
    expect(Object.fromEntries(nodes)).toEqual({
      a: { cpu: 1500, memory: 1e9, at: 100_000, window: 60_000 },
      b: { cpu: 2000, memory: NaN, at: 100_000, window: 60_000 },
    });
    expect(Object.fromEntries(pods)).toEqual({ "shop/web": { cpu: 250, memory: 100, at: 100_000, window: 120_000 } });
  });

  test("takes neither of two values for one name", async () => {
    const { nodes } = await read({ node_memory: [sample("1", { node: "a" }), sample("2", { node: "a" })] });
    expect(nodes.get("a")?.memory).toBeNaN();
  });

  test.each([
    ["samples without the labels", { "pod_cpu[2m]": [sample("1", { node: "a" })] }, "namespace"],
    ["no sample", { node_memory: [] }, "--prometheus-node-memory-query"],
    ["a refusal", { pod_memory: { kind: "failed", message: "no connection" } as const }, "no connection"],
    ["a range", { "node_cpu[1m]": { kind: "unfit", resultType: "matrix" } as const }, "--prometheus-node-cpu-query"],
  ])("refuses %s", async (_name, changed, words) => {
    const error = await read(changed).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnusableUsage);
    expect((error as Error).message).toContain(words);
  });
});
