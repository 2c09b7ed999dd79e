import { describe, expect, test } from "@jest/globals";
import { snapshotOf, type World } from "../testing/sample-snapshot.ts";
import { compareWith } from "./compare.ts";
import { POD } from "./snapshot.ts";

const policy = { hotThreshold: 1, hysteresis: 0, basis: "requests" } as const;

/** Five full and five empty nodes. */
function halfEmpty(sizeOf: (index: number) => number): World {
  const nodes = Array.from({ length: 10 }, (_, index) => ({ name: `n${index}` }));
  return { nodes, pods: Array.from({ length: 60 }, (_, index) => ({ node: `n${index % 5}`, load: sizeOf(index) })) };
}

describe("the emulation of LowNodeUtilization", () => {
  test("is marked as such, and stops once no node is above the band", () => {
    const compared = compareWith(
      snapshotOf(
        halfEmpty(() => 0.07),
        policy,
      ),
      "low-node-utilization",
      10,
    );
    expect(compared).toMatchObject({ isEmulated: true, band: 10, returned: 0, cycles: 1 });
    // The mean is 0.42: from 12 pods a node goes down to 7, the first number at or below 0.52.
    expect(compared.evictions).toBe(25);
  });

  test("needs as many evictions as a plan where all pods are equal, and far more where they are not", () => {
    const equal = compareWith(
      snapshotOf(
        halfEmpty(() => 0.07),
        policy,
      ),
      "low-node-utilization",
      10,
    );
    expect(equal.evictionsForSameSigma).toBe(equal.evictions);
    const uneven = halfEmpty((index) => (index < 10 ? 0.3 : 0.02));
    const compared = compareWith(snapshotOf(uneven, policy), "low-node-utilization", 10);
    expect(compared.evictionsForSameSigma).toBeLessThan(0.7 * compared.evictions);
  });

  test("says much the same however pods are named: descheduler takes them in random order", () => {
    const uneven = halfEmpty((index) => (index % 6 === 0 ? 0.3 : 0.025));
    const counts = Array.from({ length: 8 }, (_, name) => {
      const snapshot = snapshotOf(uneven, policy);
      const uid = snapshot.cluster.pods.uid.map((one) => `${name}-${one}`);
      const cluster = { ...snapshot.cluster, pods: { ...snapshot.cluster.pods, uid } };
      return compareWith({ ...snapshot, cluster }, "low-node-utilization", 10).evictions;
    });
    // In one random order it takes 18 to 30 evictions.
    for (const count of counts) expect([21, 22, 23, 24]).toContain(count);
  });

  test("does nothing without a node below or above the band", () => {
    const level = {
      nodes: [{ name: "a" }, { name: "b" }],
      pods: [
        { node: "a", load: 0.5 },
        { node: "b", load: 0.5 },
      ],
    };
    expect(compareWith(snapshotOf(level, policy), "low-node-utilization", 10)).toMatchObject({
      evictions: 0,
      cycles: 0,
    });
  });

  test("does not evict what its default evictor protects or a disruption budget refuses", () => {
    const world = halfEmpty(() => 0.07);
    const kept = { ...world, pods: world.pods.map((pod) => ({ ...pod, flags: POD.emptyDir })) };
    expect(compareWith(snapshotOf(kept, policy), "low-node-utilization", 10).evictions).toBe(0);
    const budget = { ...world, disruptionBudgets: [{ disruptionsAllowed: 3 }] };
    expect(compareWith(snapshotOf(budget, policy), "low-node-utilization", 10).evictions).toBe(3);
  });
});
