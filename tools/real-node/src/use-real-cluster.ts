import {
  type Cluster,
  type ClusterAccess,
  foldersFrom,
  openCluster,
  startCluster,
  whyNoRealNode,
} from "@evenkeel/control-plane";
import { START_TIMEOUT_MS, TEST_TIMEOUT_MS } from "@evenkeel/e2e";
import { afterAll, beforeAll, describe, test } from "@jest/globals";
import { writeNodeImage } from "./images/images.ts";
import { CLUSTER_VARIABLE } from "./shared-cluster.ts";

/** A describe block that, where the machine cannot run a real node, is one skipped test that says why. */
export function describeIfRealNode(title: string, body: () => void): void {
  const why = whyNoRealNode(foldersFrom(process.env));
  if (why === undefined) describe(title, body);
  else test.skip(`${title}: ${why}`, () => undefined);
}

/**
 * Such a block with a real node, into which the image `NODE_IMAGE` is loaded. All files of the suite share the cluster;
 * a file that is run alone starts its own.
 */
export function describeOnRealNode(title: string, body: (cluster: () => ClusterAccess) => void): void {
  describeIfRealNode(title, () => body(useRealCluster()));
}

/** That cluster. Call the result inside of a test. */
function useRealCluster(): () => ClusterAccess {
  const shared = process.env[CLUSTER_VARIABLE];
  let own: Cluster | undefined;
  let cluster: ClusterAccess | undefined;
  beforeAll(async () => {
    if (shared !== undefined) {
      cluster = openCluster(shared);
      return;
    }
    const progress = (line: string): unknown => process.stderr.write(`  ${line}\n`);
    own = await startCluster({ name: "real-node", node: "real", progress });
    cluster = own;
    await own.loadImage(writeNodeImage());
  }, START_TIMEOUT_MS);
  afterAll(async () => own?.stop(), TEST_TIMEOUT_MS);
  return () => {
    if (cluster === undefined) throw new Error("the cluster is there once the test runs, not before");
    return cluster;
  };
}
