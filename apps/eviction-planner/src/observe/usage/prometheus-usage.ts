import type { PrometheusClient, QueryOutcome, Sample, ServerAddress } from "@evenkeel/prometheus";
import { unfitMessage } from "@evenkeel/prometheus";
import { UnusableUsage } from "../../errors.ts";
import type { Measured, Usage, UsageSource } from "./usage.ts";

/** PromQL for each measure: cores and bytes. Nodes need the label `node`, pods `namespace` and `pod`. */
export interface UsageQueries {
  readonly nodeCpu: string;
  readonly nodeMemory: string;
  readonly podCpu: string;
  readonly podMemory: string;
}

export interface PrometheusUsageOptions {
  readonly client: Pick<PrometheusClient, "query">;
  readonly address: ServerAddress;
  readonly queries: UsageQueries;
  /** Milliseconds that each query may take. */
  readonly timeout: number;
  /** Bytes of the largest answer. */
  readonly limit?: number;
}

/** 150,000 pods have about 30 MB. */
const LIMIT = 128 * 2 ** 20;

const NODE_LABELS = ["node"] as const;
const POD_LABELS = ["namespace", "pod"] as const;

/** Usage from queries to Prometheus. It rejects if a query fails or its samples lack the labels; nothing is guessed. */
export function prometheusUsage(options: PrometheusUsageOptions): UsageSource {
  const { queries } = options;
  const ask = (name: keyof UsageQueries, labels: readonly string[], signal: AbortSignal) =>
    values(options, name, labels, signal);
  return {
    read: async (signal): Promise<Usage> => {
      const [nodeCpu, nodeMemory, podCpu, podMemory] = await Promise.all([
        ask("nodeCpu", NODE_LABELS, signal),
        ask("nodeMemory", NODE_LABELS, signal),
        ask("podCpu", POD_LABELS, signal),
        ask("podMemory", POD_LABELS, signal),
      ]);
      return {
        nodes: joined(nodeCpu, nodeMemory, longestRange(queries.nodeCpu)),
        pods: joined(podCpu, podMemory, longestRange(queries.podCpu)),
      };
    },
  };
}

/** The flag that sets a query. */
const flagOf = (name: keyof UsageQueries): string =>
  `--prometheus-${name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}-query`;

type Values = ReadonlyMap<string, Pick<Sample, "seconds"> & { readonly value: number }>;

async function values(
  { client, address, queries, timeout, limit = LIMIT }: PrometheusUsageOptions,
  name: keyof UsageQueries,
  labels: readonly string[],
  signal: AbortSignal,
): Promise<Values> {
  const query = { address, query: queries[name], timeout, signal, limit, labelled: true };
  const samples = samplesOf(await client.query(query), name);
  const found = new Map<string, { seconds: number; value: number }>();
  for (const { seconds, value, labels: own = {} } of samples) {
    if (labels.some((label) => (own[label] ?? "") === "")) continue;
    const key = labels.map((label) => own[label]).join("/");
    // Two values for one name contradict each other, so that neither counts.
    found.set(key, { seconds, value: found.has(key) ? NaN : Number(value) });
  }
  if (found.size === 0 && samples.length > 0) {
    const fault = `no sample of ${flagOf(name)} has ${labels.map((label) => `the label ${label}`).join(" and ")}`;
    throw new UnusableUsage({ source: "Prometheus", fault });
  }
  return found;
}

function samplesOf(outcome: QueryOutcome, name: keyof UsageQueries): readonly Sample[] {
  const refuse = (why: string): never => {
    throw new UnusableUsage({ source: "Prometheus", fault: `${flagOf(name)}: ${why}` });
  };
  if (outcome.kind === "failed") return refuse(outcome.message);
  if (outcome.kind === "unfit") return refuse(unfitMessage(outcome.resultType));
  return outcome.samples.length === 0 ? refuse("the query has no sample") : outcome.samples;
}

function joined(cpu: Values, memory: Values, window: number): ReadonlyMap<string, Measured> {
  const all = new Map<string, Measured>();
  for (const [key, { seconds, value }] of cpu)
    all.set(key, { cpu: value * 1000, memory: memory.get(key)?.value ?? NaN, at: seconds * 1000, window });
  return all;
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * The longest range that a query averages over, such as `[5m]`, in milliseconds: a younger pod is not measured by it.
 */
export function longestRange(query: string): number {
  const ranges = [...query.matchAll(/\[(\d+)([smhd])\b/g)].map(
    ([, figures, unit = ""]) => Number(figures) * (UNITS[unit] ?? 0),
  );
  return Math.max(0, ...ranges);
}
