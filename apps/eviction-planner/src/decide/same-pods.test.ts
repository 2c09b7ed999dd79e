import { describe, expect, test } from "@jest/globals";
import { SimulatedCluster } from "../testing/simulated-cluster.ts";
import { plan } from "./plan.ts";

const TURN = 30_000;
const MINUTE = 60_000;
/** Turns without an eviction after which a plan counts as carried out. */
const QUIET = 4;

/** Pods of four sizes on the first half of the nodes; each workload has several of one size. */
function unlevel(): {
  readonly nodes: { name: string }[];
  readonly pods: { owner: string; node: string; load: number }[];
} {
  const nodes = Array.from({ length: 8 }, (_, index) => ({ name: `node-${index}` }));
  const pods = Array.from({ length: 40 }, (_, index) => {
    const owner = (index * 7) % 10;
    return { owner: `web-${owner}`, node: `node-${(index * 3 + (index % 5)) % 4}`, load: 0.04 + 0.02 * (owner % 4) };
  });
  return { nodes, pods };
}

interface Run {
  readonly perMinute?: number;
  readonly grace?: number;
}

function clusterOf({ perMinute = 1000, grace = 0 }: Run): SimulatedCluster {
  const policy = { basis: "requests", targetSigma: 0.06, maxEvictionsPerMinute: perMinute } as const;
  return new SimulatedCluster({ ...unlevel(), policy, grace });
}

/** Carries plans out until nothing is evicted any more. Gives the pods of each wave. */
function carryOut(cluster: SimulatedCluster): readonly (readonly string[])[] {
  for (let quiet = 0, before = 0; quiet < QUIET; before = cluster.evictedAt.length) {
    cluster.turn(TURN);
    quiet = cluster.evictedAt.length === before ? quiet + 1 : 0;
  }
  const waves = Map.groupBy(cluster.evictedAt, ({ at }) => at);
  return [...waves.values()].map((wave) => wave.map(({ pod }) => pod));
}

describe("over several waves the pods that are evicted are those that a dry run names", () => {
  test.each<[string, Run]>([
    ["with two evictions a minute", { perMinute: 2 }],
    ["with pods that take two minutes to end", { grace: 2 * MINUTE }],
  ])("%s", (_sentence, run) => {
    const cluster = clusterOf(run);
    const planned = plan(cluster.snapshot(null)).moves.map(({ pod }) => pod.name);
    const waves = carryOut(cluster);
    expect(waves.length).toBeGreaterThan(3);
    expect(waves.flat().sort()).toEqual([...planned].sort());
  });
});
