import { type Cluster, type ClusterOptions, startCluster } from "@evenkeel/control-plane";
import { afterAll, beforeAll } from "@jest/globals";
import { START_TIMEOUT_MS, TEST_TIMEOUT_MS } from "./use-cluster.ts";

export type Clusters<Name extends string> = Readonly<Record<Name, Cluster>>;

/** Bits of the mask of each cluster's part of the pods' range, 10.200.0.0/16. */
const POD_BITS = 19;

/**
 * Provides the tests of a file with several clusters at once, by name:
 * `useClusters({ east: {}, west: {}, south: {} })`. Each has its own authority, an audit log, and with KWOK its own
 * part of the pods' range. They start in parallel. Call the result inside a test. The time, the memory and the folders
 * of the logs are printed at the end.
 */
export function useClusters<Name extends string>(
  members: Readonly<Record<Name, ClusterOptions>>,
): () => Clusters<Name> {
  let clusters: Clusters<Name> | undefined;
  let took = 0;
  beforeAll(async () => {
    const began = performance.now();
    clusters = await startAll(members);
    took = performance.now() - began;
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    const all: readonly Cluster[] = Object.values(clusters ?? {});
    const bytes = all
      .flatMap((cluster) => cluster.components())
      .reduce((sum, each) => sum + (each.residentBytes ?? 0), 0);
    await Promise.all(all.map((cluster) => cluster.stop()));
    const seconds = (took / 1000).toFixed(1);
    process.stderr.write(`  ${all.length} clusters: started in ${seconds} s, ${Math.round(bytes / 1e6)} MB\n`);
    for (const { name, logs } of all) process.stderr.write(`  logs of cluster ${name}: ${logs}\n`);
  }, TEST_TIMEOUT_MS);
  return () => {
    if (clusters === undefined) throw new Error("the clusters are there once the test runs, not before");
    return clusters;
  };
}

/** Starts all clusters. If one cannot be started, the others are stopped. */
async function startAll<Name extends string>(members: Readonly<Record<Name, ClusterOptions>>): Promise<Clusters<Name>> {
  const entries = Object.entries<ClusterOptions>(members);
  const started = await Promise.allSettled(
    entries.map(async ([name, options], index) => {
      const pods = options.node === "real" ? {} : { podCidr: podCidr(index) };
      const progress = (line: string): boolean => process.stderr.write(`  ${name}: ${line}\n`);
      return [name, await startCluster({ name, audit: true, progress, ...pods, ...options })] as const;
    }),
  );
  const running = started.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const failed = started.find((result) => result.status === "rejected");
  if (failed !== undefined) {
    await Promise.all(running.map(([, cluster]) => cluster.stop()));
    throw failed.reason;
  }
  return Object.fromEntries(running) as Clusters<Name>;
}

/** 10.200.0.0/19, 10.200.32.0/19, …: of up to eight clusters. */
function podCidr(index: number): string {
  return `10.200.${index << (24 - POD_BITS)}.0/${POD_BITS}`;
}
