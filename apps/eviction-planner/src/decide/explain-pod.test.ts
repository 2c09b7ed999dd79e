import { expect, test } from "@jest/globals";
import { type PodSpec, snapshotOf } from "../testing/sample-snapshot.ts";
import { explainPod } from "./explain-pod.ts";
import { plan } from "./plan.ts";
import { POD } from "./snapshot.ts";

function explained(pods: readonly PodSpec[], key: string, policy: Parameters<typeof snapshotOf>[1] = {}) {
  const snapshot = snapshotOf({ nodes: [{ name: "a", rest: 0.3 }, { name: "b" }], pods }, policy);
  return explainPod(snapshot, plan(snapshot), key);
}

const hot: readonly PodSpec[] = [
  { name: "large", node: "a", load: 0.4 },
  { name: "pinned", node: "a", load: 0.2, flags: POD.pinned + POD.hostPath },
  { name: "calm", node: "b", load: 0.1 },
];

test("a pod that the plan evicts has a move and nothing that holds it", () => {
  expect(explained(hot, "shop/large")).toMatchObject({
    ...{ node: "a", nodeIsHot: true, holds: [], move: { from: "a", landings: [{ node: "b" }] } },
  });
  expect(explained(hot, "shop/large")?.nodeLevel).toBeCloseTo(0.9);
});

test("a pod that stays has everything that holds it, not only the first", () => {
  const { holds = [], move } = explained(hot, "shop/pinned") ?? {};
  expect(move).toBeNull();
  expect(holds.map(({ code }) => code)).toEqual(["Pinned", "HostPath"]);
});

test("a pod of a node that nobody wants to relieve says so", () => {
  expect(explained(hot, "shop/calm")).toMatchObject({ nodeIsHot: false, holds: [{ code: "NodeNotHot" }] });
});

test("a pod that is not there has no explanation, and a foolish policy has no verdict", () => {
  expect(explained(hot, "shop/nobody")).toBeNull();
  expect(explained(hot, "shop/large", { coldThreshold: 0.9, hotThreshold: 0.1 })).toMatchObject({
    holds: [],
    move: null,
  });
});
