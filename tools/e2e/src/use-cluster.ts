import { type Cluster, type ClusterOptions, startCluster } from "@evenkeel/control-plane";
import { afterAll, beforeAll } from "@jest/globals";

/** Milliseconds. The first start on a machine builds Kubernetes, which takes about ten minutes. Others take seconds. */
export const START_TIMEOUT_MS = 30 * 60_000;

/** Milliseconds for a test with one or two clusters on a busy machine. */
export const TEST_TIMEOUT_MS = 120_000;

/**
 * Provides the tests of a file or a describe block with a shared cluster, so each needs its own object names. Call the
 * result inside a test. The folder of its logs is printed at the end.
 */
export function useCluster(options: ClusterOptions = {}): () => Cluster {
  let cluster: Cluster | undefined;
  beforeAll(async () => {
    cluster = await startCluster({ progress: (line) => process.stderr.write(`  ${line}\n`), ...options });
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await cluster?.stop();
    process.stderr.write(`  logs of cluster ${cluster?.name ?? ""}: ${cluster?.logs ?? "none"}\n`);
  }, TEST_TIMEOUT_MS);
  return () => {
    if (cluster === undefined) throw new Error("the cluster is there once the test runs, not before");
    return cluster;
  };
}
