import { describe, expect, test } from "@jest/globals";
import { node } from "../testing/shapes.ts";
import { NodeResources } from "./node-resources.ts";

const allocatable = { cpu: 4000, memory: 8000, "ephemeral-storage": 100, pods: 2, "example.com/gpu": 1 };
const asks = (requests: Readonly<Record<string, number>>) => ({
  requests,
  scoredRequests: { cpu: requests["cpu"] ?? 100, memory: requests["memory"] ?? 200 },
});

describe("resources of a node", () => {
  test.each([
    [{}, undefined],
    [{ cpu: 4000, memory: 8000, "ephemeral-storage": 100, "example.com/gpu": 1 }, undefined],
    [{ cpu: 4001 }, "InsufficientCpu"],
    [{ memory: 8001 }, "InsufficientMemory"],
    [{ "ephemeral-storage": 101 }, "InsufficientEphemeralStorage"],
    [{ "example.com/gpu": 2 }, "InsufficientResource"],
    [{ "hugepages-2Mi": 1 }, "InsufficientResource"],
    [{ cpu: Number.NaN }, "InsufficientCpu"],
  ])("%j on an empty node: %p", (requests, reason) => {
    const resources = new NodeResources([node("a", { allocatable })]);
    expect(resources.whyNot(resources.demand(asks(requests)), 0)).toBe(reason);
  });

  test("limit the number of pods, also of those without requests", () => {
    const resources = new NodeResources([node("a", { allocatable })]);
    const nothing = resources.demand(asks({}));
    resources.change(nothing, 0, 2);
    expect(resources.whyNot(nothing, 0)).toBe("TooManyPods");
  });

  test.each([
    ["nothing else", {}, { cpu: 1000, memory: 1000 }, 81, 71],
    ["pods that lean the other way", { cpu: 0, memory: 2000 }, { cpu: 1000, memory: 0 }, 75, 81],
    ["pods that take more than there is", { cpu: 9000, memory: 9000 }, { cpu: 1000, memory: 1000 }, 0, 75],
  ])("score a pod next to %s", (_, others, requests, fit, balance) => {
    const resources = new NodeResources([node("a", { allocatable })]);
    resources.change(resources.demand({ requests: others, scoredRequests: { cpu: 0, memory: 0, ...others } }), 0, 1);
    const demand = resources.demand({ requests, scoredRequests: requests });
    expect([resources.leastAllocated(demand, 0), resources.balanced(demand, 0)]).toEqual([fit, balance]);
  });

  test("that the node does not have are not scored", () => {
    const resources = new NodeResources([node("a", { allocatable: { cpu: 1000, pods: 1 } })]);
    const demand = resources.demand(asks({ cpu: 500 }));
    expect([resources.leastAllocated(demand, 0), resources.balanced(demand, 0)]).toEqual([50, 75]);
  });
});
