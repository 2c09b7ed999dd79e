import { describe, expect, test } from "@jest/globals";
import { CORES, NO_MEMORY, NOW, type PodSpec, snapshotOf, type World } from "../testing/sample-snapshot.ts";
import { plan } from "./plan.ts";
import { pricesOf } from "./price.ts";
import { type PlanSnapshot, POD } from "./snapshot.ts";

/** One hot node with pods of several sizes, and two cold ones. */
const oneHot: World = {
  nodes: [{ name: "a" }, { name: "b" }, { name: "c" }],
  pods: [
    { node: "a", load: 0.4 },
    { node: "a", load: 0.3 },
    { node: "a", load: 0.2 },
    { node: "b", load: 0.2 },
    { node: "c", load: 0.1 },
  ],
};

const namesOf = (snapshot: PlanSnapshot) => plan(snapshot).moves.map(({ pod }) => pod.name);

describe("a plan", () => {
  test("moves the pod that levels most to the node where the scheduler would put it", () => {
    const { moves, sigma, outcome, nodes } = plan(snapshotOf(oneHot));
    expect(nodes).toEqual({ known: 3, hot: 1, cold: 2, frozen: [] });
    expect(moves).toMatchObject([
      {
        pod: { uid: "uid-pod-0", namespace: "shop", name: "pod-0", workload: { kind: "Deployment", name: "pod-0" } },
        owner: "owner-pod-0",
        from: "a",
        landings: [{ node: "c", probability: 1 }],
        countedOn: "c",
      },
    ]);
    expect(outcome).toBe("TargetReached");
    expect(sigma?.before).toBeCloseTo(0.3559, 4);
    expect(sigma?.predicted).toBeCloseTo(Math.SQRT2 / 10, 9);
    expect(moves[0]?.deltaSigma).toBeCloseTo((sigma?.predicted ?? NaN) - (sigma?.before ?? NaN), 9);
  });

  test("ends when no node is hot and the variance is at its target", () => {
    expect(plan(snapshotOf({ nodes: oneHot.nodes, pods: oneHot.pods.slice(1) }))).toMatchObject({
      outcome: "TargetReached",
      moves: [],
    });
  });

  test("relieves every node above the mean until σ is at targetSigma, even if none is hot", () => {
    const pods = [0.2, 0.2, 0.2].map((load) => ({ node: "a", load }));
    const { outcome, moves, sigma } = plan(snapshotOf({ ...oneHot, pods }, { targetSigma: 0.001 }));
    expect({ outcome, moves: moves.length }).toEqual({ outcome: "TargetReached", moves: 2 });
    expect(sigma?.predicted).toBeCloseTo(0, 9);
  });

  test("makes no more moves than its budget, and says so", () => {
    const pods = Array.from({ length: 9 }, () => ({ node: "a", load: 0.1 }));
    expect(plan(snapshotOf({ ...oneHot, pods }, { targetSigma: 0 }, { budget: 2 }))).toMatchObject({
      outcome: "BudgetSpent",
      moves: [{}, {}],
      held: [{ code: "Budget", by: null, pods: 7 }],
    });
  });

  test("does not say that its budget is spent where no pod may be moved", () => {
    const pods = oneHot.pods.map((pod) => ({ ...pod, flags: POD.pinned }));
    expect(plan(snapshotOf({ ...oneHot, pods }))).toMatchObject({ outcome: "AsLevelAsItGets", moves: [] });
  });

  test("has σ and its bound for each budget, and each prefix is a plan", () => {
    const pods = Array.from({ length: 9 }, () => ({ node: "a", load: 0.1 }));
    const snapshot = snapshotOf({ ...oneHot, pods }, { targetSigma: 0 });
    const { curve, moves } = plan(snapshot);
    expect(curve.predicted).toEqual([plan(snapshot).sigma?.before, ...moves.map(({ sigma }) => sigma)]);
    for (const [budget, sigma] of curve.predicted.entries()) {
      expect(plan({ ...snapshot, budget }).sigma?.predicted).toBeCloseTo(sigma, 9);
      expect(curve.bound[budget]).toBeLessThanOrEqual(sigma + 1e-9);
    }
  });

  test("swaps two pods when no single move helps", () => {
    const pods = [
      { node: "a", load: 0.5 },
      { node: "a", load: 0.1, flags: POD.pinned },
      { node: "b", load: 0.3 },
    ];
    const nodes = [{ name: "a" }, { name: "b" }];
    const { moves, sigma } = plan(snapshotOf({ nodes, pods }, { targetSigma: 0, hotThreshold: 0.9 }));
    expect(moves.map(({ pod, from, countedOn }) => [pod.name, from, countedOn])).toEqual([
      ["pod-0", "a", "b"],
      ["pod-2", "b", "a"],
    ]);
    expect(sigma?.before).toBeCloseTo(0.15, 9);
    expect(sigma?.predicted).toBeCloseTo(0.05, 9);
  });

  test("of two pods with the same load moves the one that disturbs less", () => {
    const twin = (name: string, change: Partial<PodSpec>): PodSpec => ({
      name,
      node: "a",
      load: 0.4,
      owner: name,
      ...change,
    });
    const pods = (change: Partial<PodSpec>) => [
      twin("a-costly", change),
      twin("b-gentle", {}),
      { node: "b", load: 0.1 },
    ];
    const owners = { "a-costly": { replicas: 50 }, "b-gentle": { replicas: 50 } };
    const world = (change: Partial<PodSpec>) => ({
      nodes: [{ name: "a", rest: 0.1 }, { name: "b" }],
      pods: pods(change),
      owners,
    });
    for (const change of [{ priority: 1e6 }, { deletionCost: 100 }, { flags: POD.otherVolume }]) {
      expect(namesOf(snapshotOf(world(change)))).toEqual(["b-gentle"]);
    }
    expect(namesOf(snapshotOf(world({ priority: 1e6 }), { respectPodPriority: false }))).toEqual(["a-costly"]);
    const single = { ...world({}), owners: { ...owners, "a-costly": { replicas: 1 } } };
    expect(namesOf(snapshotOf(single))).toEqual(["b-gentle"]);
  });

  test("prefers moves to NodeClasses that the policy or the pod's annotation names", () => {
    const only = (node: string) => ({ shape: { nodeSelector: { "kubernetes.io/hostname": node } } });
    const world = (kind?: string): World => ({
      nodes: [{ name: "a", rest: 0.1 }, { name: "b" }, { name: "c", labels: { arch: "arm64" } }],
      pods: [
        { name: "to-b", node: "a", load: 0.401, ...only("b") },
        { name: "to-c", node: "a", load: 0.4, ...only("c"), ...(kind === undefined ? {} : { workloadKind: kind }) },
      ],
      nodeClasses: [
        { name: "arm", spec: { matchLabels: { arch: "arm64" }, preferredFor: ["cpu-bound"], weight: 50 } },
        { name: "empty", spec: { preferredFor: ["other"], weight: 1000 } },
      ],
    });
    expect(namesOf(snapshotOf(world()))).toEqual(["to-b"]);
    expect(namesOf(snapshotOf(world("other")))).toEqual(["to-b"]);
    expect(namesOf(snapshotOf(world(), { nodeClassPreference: ["arm"] }))).toEqual(["to-c"]);
    expect(namesOf(snapshotOf(world("cpu-bound")))).toEqual(["to-c"]);
    expect(plan(snapshotOf(world())).classes).toMatchObject([
      { name: "arm", nodes: 1, before: 0 },
      { name: "empty", nodes: 0 },
    ]);
  });

  test("that is carried out has one eviction at a time for each owner and node", () => {
    const pods = Array.from({ length: 9 }, (_, index) => ({
      node: index < 5 ? "a" : "d",
      load: 0.18,
      owner: `o${index % 2}`,
    }));
    const nodes = ["a", "b", "c", "d"].map((name) => ({ name }));
    const levels = { a: { level: "above", since: NOW }, d: { level: "above", since: NOW } } as const;
    const snapshot = snapshotOf({ nodes, pods }, { targetSigma: 0 }, { memory: { ...NO_MEMORY, levels } });
    const { moves } = plan(snapshot);
    expect(moves.map(({ from }) => from).sort()).toEqual(["a", "d"]);
    expect(new Set(moves.map(({ owner }) => owner)).size).toBe(2);
    expect(plan({ ...snapshot, memory: null }).moves.length).toBeGreaterThan(2);
  });

  test("names workloads that request far more or less than they use", () => {
    const pods = [
      { node: "a", load: 0.3, requested: 0.01, owner: "greedy" },
      { node: "b", load: 0.01, requested: 0.6, owner: "vain" },
      { node: "b", load: 0.3, requested: 0.31, owner: "fair" },
    ];
    const { rightSizing } = plan(snapshotOf({ nodes: oneHot.nodes, pods }));
    expect(rightSizing.map(({ workload, resource }) => `${workload.name} ${resource}`).sort()).toEqual(
      ["greedy cpu", "greedy memory", "vain cpu", "vain memory"].sort(),
    );
    expect(rightSizing[0]).toMatchObject({ namespace: "shop", pods: 1, requested: 0.6 * CORES, used: 0.01 * CORES });
  });

  test("is not made if fewer than two nodes are known", () => {
    const nodes = [
      { name: "a", rest: 0.9 },
      { name: "b", rest: null },
    ];
    expect(plan(snapshotOf({ nodes, pods: [] }))).toMatchObject({
      outcome: "NothingKnown",
      sigma: null,
      nodes: { known: 1, frozen: [{ node: "b", reason: "NoUsage" }] },
    });
  });
});

describe("a policy that contradicts itself plans nothing and names the field", () => {
  type Policy = PlanSnapshot["policy"]["spec"];
  test.each<[string, Partial<Policy>, string]>([
    ["cold above hot", { coldThreshold: 0.8 }, "spec.coldThreshold"],
    ["no weight above 0", { resourceWeights: { cpu: 0, memory: 0 } }, "spec.resourceWeights"],
    ["no weight at all", { resourceWeights: {} }, "spec.resourceWeights"],
    ["a negative weight", { resourceWeights: { cpu: -1, memory: 2 } }, "spec.resourceWeights.cpu"],
    ["a target that is not a number", { targetSigma: NaN }, "spec.targetSigma"],
    [
      "an unknown operator",
      { workloadSelectors: [{}, { matchExpressions: [{ key: "app", operator: "Resembles" }] }] },
      "spec.workloadSelectors[1].matchExpressions[0].operator",
    ],
  ])("%s", (_sentence, policy, field) => {
    const { outcome, faults, moves } = plan(snapshotOf(oneHot, policy));
    expect({ outcome, fields: faults.map((fault) => fault.field), moves }).toEqual({
      outcome: "InvalidPolicy",
      fields: [field],
      moves: [],
    });
  });
});

describe("the price of a constraint", () => {
  test("is what σ would be lower without it", () => {
    const snapshot = snapshotOf(
      {
        ...oneHot,
        disruptionBudgets: [{ name: "checkout", disruptionsAllowed: 0 }],
        pods: [...oneHot.pods, { node: "b", load: 0.01, namespace: "bank" }],
      },
      { targetSigma: 0 },
    );
    const made = plan(snapshot);
    expect(made.moves).toEqual([]);
    const [price] = pricesOf(snapshot, made);
    expect(price).toMatchObject({ code: "DisruptionBudget", by: "shop/checkout" });
    const free = plan({ ...snapshot, cluster: { ...snapshot.cluster, disruptionBudgets: [] } });
    expect(price?.sigma).toBeCloseTo((made.sigma?.predicted ?? NaN) - (free.sigma?.predicted ?? NaN), 9);
    expect(price?.evictions).toBe(free.moves.length);
  });

  test("of a constraint that changes nothing is not named", () => {
    const pods = [...oneHot.pods, { node: "a", load: 0.001, flags: POD.pinned }];
    const snapshot = snapshotOf({ ...oneHot, pods });
    expect(pricesOf(snapshot, plan(snapshot))).toEqual([]);
  });
});
