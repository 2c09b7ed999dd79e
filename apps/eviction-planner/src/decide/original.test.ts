import { describe, expect, test } from "@jest/globals";
import { podShape } from "@evenkeel/placement";
import { NO_MEMORY, NOW, type PodSpec, snapshotOf, type World } from "../testing/sample-snapshot.ts";
import { OBSTACLE_CODES } from "./obstacles.ts";
import { plan } from "./plan.ts";
import { type PlanMemory, type PlanSnapshot, POD } from "./snapshot.ts";

// Defects that were found in the original planner, each as what this one does instead.

const nodes = [{ name: "a", rest: 0.1 }, { name: "b" }, { name: "c" }];
/** Node a is at 0.9 with pods of 0.3, 0.3 and 0.2. */
const pods: readonly PodSpec[] = [0.3, 0.3, 0.2].map((load, index) => ({ name: `p${index}`, node: "a", load }));
const world: World = { nodes, pods };
const hot = { a: { level: "above", since: NOW - 60_000 } } as const;

type Policy = Partial<PlanSnapshot["policy"]["spec"]>;

const moved = (changed: World, policy: Policy = {}, memory: PlanMemory | null = null) =>
  plan(snapshotOf(changed, policy, { memory })).moves.map(({ pod }) => pod.name);
const codes = (changed: World, policy: Policy = {}) => [
  ...new Set(plan(snapshotOf(changed, policy)).stays.map(({ code }) => code)),
];
const all = (change: Partial<PodSpec>): World => ({ nodes, pods: pods.map((pod) => ({ ...pod, ...change })) });

describe("unlike the original, the planner", () => {
  test("S1: remembers which nodes were hot, and widens no band", () => {
    const warm = { ...world, nodes: [{ name: "a" }, { name: "b" }, { name: "c" }] };
    const nearlyHot = { ...warm, pods: pods.map((pod) => ({ ...pod, load: 0.26 })) };
    expect(plan(snapshotOf(nearlyHot, {}, { memory: NO_MEMORY })).nodes.hot).toBe(0);
    expect(plan(snapshotOf(nearlyHot, {}, { memory: { ...NO_MEMORY, levels: hot } })).nodes.hot).toBe(1);
  });

  test("S2: reports σ as a root, and plans wherever a node is hot although the variance is below its target", () => {
    const { sigma, moves } = plan(snapshotOf(world));
    expect(sigma?.before).toBeCloseTo(Math.sqrt(0.18), 9);
    expect(moves).not.toEqual([]);
  });

  test("S3: applies the same weights to classes and to σ", () => {
    const usage = { cpu: 9_000, memory: 0 };
    const cpuOnly = { nodes: [{ name: "a", row: { usage } }, { name: "b" }], pods: [] };
    const { nodes: counted, sigma } = plan(snapshotOf(cpuOnly, { resourceWeights: { cpu: 1 } }));
    expect([counted.hot, sigma?.before]).toEqual([1, 0.45]);
  });

  test("S4: moves what a pod uses, not what it requests", () => {
    const requestless = { nodes, pods: pods.map((pod, index) => ({ ...pod, requested: index === 2 ? 0.3 : 0.1 })) };
    const { moves, sigma } = plan(snapshotOf(requestless));
    expect(moves[0]?.pod.name).not.toBe("p2");
    expect(sigma?.predicted).toBeCloseTo(Math.sqrt(0.06), 9);
  });

  test("S5: lands pods only where they fit and are let in", () => {
    const full = { requested: 0.6 };
    const cordoned = { ...all(full), nodes: [nodes[0] ?? { name: "a" }, { name: "b", row: { unschedulable: true } }] };
    expect([moved(cordoned), codes(cordoned)]).toEqual([[], ["NoOtherNode"]]);
  });

  test("S5: honours a toleration of every taint, and lets an empty node selector term match nothing", () => {
    const taints = [{ key: "team", value: "data", effect: "NoSchedule" }];
    const tainted = nodes.map((node) => (node.name === "a" ? node : { ...node, row: { taints } }));
    const withShape = (shape: NonNullable<PodSpec["shape"]>): World => ({ ...all({ shape }), nodes: tainted });
    expect(moved(withShape({}))).toEqual([]);
    expect(moved(withShape({ tolerations: [{ operator: "Exists" }] }))).not.toEqual([]);
    expect(codes(all({ shape: { requiredNodes: [{}] } }))).toEqual(["NoOtherNode"]);
  });

  test("S6: freezes nodes without metrics, which attract nothing", () => {
    const { moves, nodes: counted } = plan(snapshotOf({ ...world, nodes: [...nodes, { name: "d", rest: null }] }));
    expect(counted.frozen).toEqual([{ node: "d", reason: "NoUsage" }]);
    expect(moves.map(({ countedOn }) => countedOn)).not.toContain("d");
  });

  test("S7: counts each eviction in its disruption budget, and never evicts a pod that two of them match", () => {
    const goal = { targetSigma: 0 };
    expect(moved(world, goal).length).toBeGreaterThan(1);
    expect(moved({ ...world, disruptionBudgets: [{ disruptionsAllowed: 1 }] }, goal)).toHaveLength(1);
    const two = {
      ...world,
      disruptionBudgets: [
        { name: "one", disruptionsAllowed: 9 },
        { name: "two", disruptionsAllowed: 9 },
      ],
    };
    expect([moved(two, goal), codes(two, goal)]).toEqual([[], ["SeveralDisruptionBudgets"]]);
  });

  test("S8: backs off from a workload on a node, whatever its pods are called", () => {
    const backOffs = pods.map(({ name }) => ({ owner: `workload-${name}`, node: "a", until: NOW + 1 }));
    expect(moved(world, {}, { ...NO_MEMORY, levels: hot })).toHaveLength(1);
    expect(moved(world, {}, { ...NO_MEMORY, levels: hot, backOffs })).toEqual([]);
  });

  test("S9: counts the moves of this plan in the hour of a WorkloadSLO", () => {
    const slos = [{ namespace: "shop", name: "api", spec: { maxDisruptionsPerHour: 1 } }];
    expect(moved({ ...world, slos }, { targetSigma: 0 })).toHaveLength(1);
  });

  test("S10: counts evictions of the last minute, not of the last reconcile", () => {
    const memory = { ...NO_MEMORY, levels: hot };
    expect(moved(world, { maxEvictionsPerMinute: 3 }, { ...memory, lastMinute: 2 })).toHaveLength(1);
    expect(moved(world, { maxEvictionsPerMinute: 3 }, { ...memory, lastMinute: 3 })).toEqual([]);
  });

  test("S12: leaves mirror, terminating, ownerless and Job pods alone, and counts emptyDir limits in bytes", () => {
    expect(codes(all({ flags: POD.mirror }))).toEqual(["Mirror"]);
    const terminating = all({ flags: POD.terminating });
    expect(moved({ ...terminating, nodes: [{ name: "a", rest: 0.9 }, { name: "b" }] })).toEqual([]);
    expect(codes({ ...terminating, nodes: [{ name: "a", rest: 0.9 }, { name: "b" }] })).toEqual(["Terminating"]);
    expect(codes(all({ owner: null }))).toEqual(["Ownerless"]);
    expect(codes({ ...all({ owner: "job" }), owners: { job: { kind: "Job" } } })).toEqual(["Job"]);
    expect(codes(all({ flags: POD.emptyDir, emptyDirBytes: 2.9 * 2 ** 30 }))).toEqual(["EmptyDir"]);
  });

  test("S13: honours protectedLabels, and of several WorkloadSLOs the strictest", () => {
    const slos = [
      { namespace: "shop", name: "one", spec: { maxDisruptionsPerHour: 0 } },
      { namespace: "shop", name: "two", spec: { maxDisruptionsPerHour: 9, protectedLabels: { app: "api" } } },
    ];
    expect(codes({ ...world, slos })).toEqual(["HourlyLimit"]);
    expect(codes({ ...all({ labels: { app: "api" } }), slos: slos.slice(1) })).toEqual(["ProtectedLabel"]);
  });

  test("S14: predicts σ of the moves that limits allow, not of those it would like to make", () => {
    const snapshot = snapshotOf(world, { targetSigma: 0, maxEvictionsPerNamespace: 1 });
    const { sigma, curve, moves } = plan(snapshot);
    expect(moves).toHaveLength(1);
    expect(sigma?.predicted).toBe(curve.predicted[1]);
  });

  test("S16: names reasons by codes of a closed list, and whoever asks for them apart", () => {
    const disruptionBudgets = [{ namespace: "shop", name: "checkout-2", disruptionsAllowed: 0 }];
    const { held } = plan(snapshotOf({ ...world, disruptionBudgets }));
    expect(held).toEqual([{ code: "DisruptionBudget", by: "shop/checkout-2", pods: 3 }]);
    expect(OBSTACLE_CODES).toContain("DisruptionBudget");
    expect(OBSTACLE_CODES.filter((code) => !/^[A-Z][A-Za-z]+$/.test(code))).toEqual([]);
  });

  test("S17: plans nothing for a policy with a selector that cannot be read", () => {
    const workloadSelectors = [{ matchExpressions: [{ key: "app", operator: "Resembles" }] }];
    expect(plan(snapshotOf(world, { workloadSelectors }))).toMatchObject({ outcome: "InvalidPolicy", moves: [] });
  });

  test("S19: takes 0 as none allowed", () => {
    const memory = { ...NO_MEMORY, levels: hot };
    expect(moved(world, { maxEvictionsPerMinute: 0 }, memory)).toEqual([]);
    expect(moved(world, { maxEvictionsPerNamespace: 0 })).toEqual([]);
  });

  test("S20: takes no node for empty where nothing is measured", () => {
    const unmeasured = { ...world, nodes: nodes.map((node) => ({ ...node, rest: null })) };
    expect(plan(snapshotOf(unmeasured))).toMatchObject({ outcome: "NothingKnown", moves: [], nodes: { cold: 0 } });
  });

  test("S23: chooses the move that lands on a preferred NodeClass", () => {
    const pools = [
      { name: "a", rest: 0.1 },
      { name: "b", labels: { pool: "spot" } },
      { name: "c", labels: { pool: "steady" } },
    ];
    const bound = (name: string, pool: string): PodSpec => {
      return { name, node: "a", load: 0.4, shape: { nodeSelector: { pool } } };
    };
    const preferring = (nodeClassPreference: string[]) =>
      moved(
        {
          nodes: pools,
          pods: [bound("p0", "spot"), bound("p1", "steady")],
          nodeClasses: [{ name: "steady", spec: { weight: 50, matchLabels: { pool: "steady" } } }],
        },
        { nodeClassPreference },
      );
    expect(preferring(["steady"])[0]).toBe("p1");
    expect(preferring([])[0]).toBe("p0");
  });

  test("S23: gives no node to a NodeClass without a selector", () => {
    const { classes } = plan(snapshotOf({ ...world, nodeClasses: [{ name: "any", spec: { weight: 10 } }] }));
    expect(classes).toMatchObject([{ name: "any", nodes: 0 }]);
  });

  test("S24: counts what each pod uses by itself", () => {
    const uneven = [0.1, 0.4, 0.3].map((load, index) => ({ ...pods[index], node: "a", load, requested: 0.2 }));
    expect(moved({ nodes, pods: uneven }, { targetSigma: 0 })[0]).toBe("p1");
  });

  test("S24: counts init containers, sidecars and overhead as requested", () => {
    const container = (cpu: string) => ({ resources: { requests: { cpu, memory: "1M" } } });
    const { requests } = podShape({
      spec: {
        containers: [container("1"), container("500m")],
        initContainers: [{ ...container("200m"), restartPolicy: "Always" }, container("4")],
        overhead: { cpu: "100m" },
      },
    });
    expect(requests["cpu"]).toBe(4_300);
    const large = all({ requested: 0.1, shape: { requests, scoredRequests: { cpu: 4_300, memory: 1 } } });
    const small = { ...large, nodes: [nodes[0] ?? { name: "a" }, { name: "b", capacity: 0.4 }] };
    expect([moved(small), codes(small)]).toEqual([[], ["NoOtherNode"]]);
  });
});
