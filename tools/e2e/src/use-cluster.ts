import { type Cluster, type ClusterOptions, startCluster } from "@evenkeel/control-plane";
import { afterAll, beforeAll } from "@jest/globals";

/** A first start on a machine builds Kubernetes, which takes ten minutes or so; others take seconds. In milliseconds. */
export const START_TIMEOUT_MS = 30 * 60_000;

/** A test that drives a cluster or two on a busy machine, in milliseconds. */
export const TEST_TIMEOUT_MS = 120_000;

/**
 * Gives the tests of a file or a describe block one cluster, which they share, so each must name its objects as nobody else does.
 * Call the result inside of a test. The place of its logs is said when it ends.
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
