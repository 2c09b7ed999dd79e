import { describe, expect, test } from "@jest/globals";
import { node, shape } from "./testing/shapes.ts";
import { Placement } from "./placement.ts";

describe("a model of a cluster", () => {
  test("says why a node does not take a pod", () => {
    const nodes = [
      node("free"),
      node("off", { unschedulable: true }),
      node("gpu", { taints: [{ key: "gpu", value: "yes", effect: "NoSchedule" }] }),
      node("small", { allocatable: { cpu: 500, memory: 2 ** 30, pods: 110 } }),
      node("full", { allocatable: { cpu: 4000, memory: 2 ** 34, pods: 0 } }),
    ];
    const model = new Placement(nodes, [shape({ cpu: "1", memory: "1Gi" })]);
    expect(nodes.map((_, index) => model.whyNot(0, index))).toEqual([
      ...[undefined, "NodeUnschedulable", "UntoleratedTaint", "InsufficientCpu", "TooManyPods"],
    ]);
    expect(model.feasible(0)).toEqual([0]);
    expect(model.landing(0)).toEqual([{ node: 0, probability: 1 }]);
  });

  test("scores resources in whole numbers", () => {
    const model = new Placement([node("a"), node("b")], [shape({ cpu: "1", memory: "1Gi" }), shape()]);
    model.add(0, 1);
    const points = (of: number) => model.scores(of).map(({ total, plugins }) => ({ total, ...plugins }));
    const same = { TaintToleration: 300, NodeAffinity: 0, PodTopologySpread: 0, InterPodAffinity: 0, ImageLocality: 0 };
    expect(points(0)).toEqual([
      { ...same, total: 454, NodeResourcesFit: 84, NodeResourcesBalancedAllocation: 70 },
      { ...same, total: 438, NodeResourcesFit: 68, NodeResourcesBalancedAllocation: 70 },
    ]);
    // Without requests a container counts 100m and 200Mi, and balance is not scored.
    expect(points(1)).toEqual([
      { ...same, total: 397, NodeResourcesFit: 97, NodeResourcesBalancedAllocation: 0 },
      { ...same, total: 382, NodeResourcesFit: 82, NodeResourcesBalancedAllocation: 0 },
    ]);
    expect(model.landing(0)).toEqual([{ node: 0, probability: 1 }]);
  });

  test("follows pods that come and go", () => {
    const model = new Placement([node("a"), node("b")], [shape({ cpu: "3" })]);
    expect(model.landing(0)).toHaveLength(2);
    model.add(0, 0);
    expect(model.landing(0)).toEqual([{ node: 1, probability: 1 }]);
    model.add(0, 1);
    expect(model.landing(0)).toEqual([]);
    model.terminate(0, 0);
    expect(model.landing(0)).toEqual([]);
    model.removeTerminated(0, 0);
    expect(model.landing(0)).toEqual([{ node: 0, probability: 1 }]);
  });

  test("tells where a replacement goes while the old pod is terminating, and when it is gone", () => {
    const model = new Placement([node("a"), node("b")], [shape({ cpu: "3" }), shape({ cpu: "1" })]);
    model.add(0, 0);
    model.add(1, 1);
    expect(model.landingAfter(0, 0, "terminating")).toEqual([{ node: 1, probability: 1 }]);
    expect(model.landingAfter(0, 0, "gone")[0]).toEqual({ node: 0, probability: 1 });
    expect(model.landing(0)).toEqual([{ node: 1, probability: 1 }]);
    expect(model.whyNot(0, 0)).toBe("InsufficientCpu");
  });
});
