import { describe, expect, test } from "@jest/globals";
import { BYTES, CORES, type NodeSpec, NO_MEMORY, type PodSpec, snapshotOf } from "../testing/sample-snapshot.ts";
import { type PlanMemory, POD } from "./snapshot.ts";
import { type Basis, utilisationOf, type Weights } from "./utilisation.ts";

const even: Weights = { cpu: 1, memory: 1 };

/** The level of each node by name; null for frozen ones. */
function levels(
  nodes: readonly NodeSpec[],
  pods: readonly PodSpec[],
  {
    basis = "usage",
    weights = even,
    memory = null,
  }: { basis?: Basis; weights?: Weights; memory?: PlanMemory | null } = {},
): Record<string, number | null> {
  const { cluster } = snapshotOf({ nodes, pods });
  const { slotOf, levels } = utilisationOf(cluster, basis, weights, memory);
  const rounded = (value: number) => Math.round(value * 1e6) / 1e6;
  return Object.fromEntries(
    cluster.nodes.map(({ name }, node) => {
      const slot = slotOf[node] ?? -1;
      return [name, slot < 0 ? null : rounded(levels[slot] ?? NaN)];
    }),
  );
}

describe("the utilisation of a node", () => {
  test("is what its pods and its system use, as a share of its capacity", () => {
    expect(levels([{ name: "a", rest: 0.1 }], [{ node: "a", load: 0.3 }])).toEqual({ a: 0.4 });
    expect(levels([{ name: "a", capacity: 2 }], [{ node: "a", load: 0.3 }])).toEqual({ a: 0.15 });
  });

  test.each<[string, Weights, number]>([
    ["in any sum", { cpu: 7, memory: 3 }, 0.76],
    ["as shares", { cpu: 0.7, memory: 0.3 }, 0.76],
    ["with one alone", { cpu: 5, memory: 0 }, 1],
  ])("weighs its resources %s", (_sentence, weights, expected) => {
    const row = { usage: { cpu: CORES, memory: 0.2 * BYTES } };
    expect(levels([{ name: "a", row }], [], { weights })).toEqual({ a: expected });
  });

  test("is what pods request if the policy asks for that, whatever they use", () => {
    const pods = [{ node: "a", load: 0.1, requested: 0.5 }];
    expect(levels([{ name: "a", rest: null }], pods, { basis: "requests" })).toEqual({ a: 0.5 });
  });

  test.each<[string, NodeSpec]>([
    ["has no sample", { name: "a", rest: null }],
    ["has a sample that is not a number", { name: "a", row: { usage: { cpu: NaN, memory: 1 } } }],
    ["has no capacity", { name: "a", row: { allocatable: { cpu: 0, memory: BYTES } } }],
    ["is not ready", { name: "a", row: { available: false } }],
  ])("is unknown, and not zero, if it %s", (_sentence, node) => {
    expect(levels([node, { name: "b" }], [{ node: "b", load: 0.2 }])).toEqual({ a: null, b: 0.2 });
  });

  test("counts a pod without a sample as the mean of its siblings", () => {
    const pods = [
      { node: "a", load: 0.2, owner: "web" },
      { node: "a", load: 0.4, owner: "web" },
      { node: "b", load: null, owner: "web" },
    ];
    expect(levels([{ name: "a" }, { name: "b" }], pods)).toEqual({ a: 0.6, b: 0.3 });
  });

  test("does not count terminating pods, whose load leaves", () => {
    const pods = [
      { node: "a", load: 0.2 },
      { node: "a", load: 0.5, flags: POD.terminating },
    ];
    expect(levels([{ name: "a", rest: 0.1 }], pods)).toEqual({ a: 0.3 });
  });
});

describe("an eviction in flight", () => {
  const nodes = [{ name: "a" }, { name: "b" }, { name: "c" }];
  const running = { node: "a", load: 0.4, owner: "web" };
  const memory: PlanMemory = {
    ...NO_MEMORY,
    inFlight: [
      {
        owner: "owner-web",
        shape: 0,
        from: "a",
        expected: [
          { node: "b", probability: 0.75 },
          { node: "c", probability: 0.25 },
        ],
      },
    ],
  };

  test("counts where its replacement is expected", () => {
    expect(levels(nodes, [running], { memory })).toEqual({ a: 0.4, b: 0.3, c: 0.1 });
  });

  test("counts once if its replacement is on a node already and not ready", () => {
    const replacement = { node: "c", load: null, owner: "web", readySince: -1 };
    expect(levels(nodes, [running, replacement], { memory })).toEqual({ a: 0.4, b: 0, c: 0.4 });
  });
});
