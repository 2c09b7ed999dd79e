import { describe, expect, test } from "@jest/globals";
import { nodeAddress, nodeManifest, type NodeStatus, whyNodeNotReady } from "./nodes.ts";

describe("a node takes pods", () => {
  const node = (status: string | undefined, ...taints: string[]): NodeStatus => ({
    metadata: { name: "node-0" },
    spec: { taints: taints.map((key) => ({ key })) },
    status: { conditions: status === undefined ? [] : [{ type: "Ready", status }] },
  });

  test.each([
    [node(undefined), "condition Ready is missing"],
    [node("Unknown"), "condition Ready is Unknown"],
    [node("True", "node.kubernetes.io/not-ready"), "taint node.kubernetes.io/not-ready is not removed yet"],
    [node("True", "dedicated"), undefined],
    [node("True"), undefined],
    [{ metadata: { name: "node-0" } }, "condition Ready is missing"],
  ])("not while %j", (subject, reason) => {
    expect(whyNodeNotReady(subject)).toBe(reason);
  });
});

test("a node's shape is its capacity and its allocatable, and labels are added to the well-known ones", () => {
  const manifest = nodeManifest(7, { cpu: "2", labels: { zone: "a" } });
  const size = { cpu: "2", memory: "32Gi", pods: "110" };
  expect(manifest).toMatchObject({
    metadata: { name: "node-7", labels: { "kubernetes.io/hostname": "node-7", zone: "a" } },
    status: { capacity: size, allocatable: size },
  });
});

test("ten thousand nodes have ten thousand addresses", () => {
  const addresses = Array.from({ length: 10_000 }, (_, index) => nodeAddress(index));
  expect(new Set(addresses).size).toBe(10_000);
  expect(addresses[0]).toBe("10.201.0.1");
  expect(addresses[255]).toBe("10.201.1.0");
});
