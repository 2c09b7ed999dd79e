import { expect, test } from "@jest/globals";
import type { Toleration } from "../facts.ts";
import { hasUntoleratedTaint, intolerableTaints, taintScore, tolerates } from "./taint-toleration.ts";

const taint = { key: "gpu", value: "yes", effect: "NoSchedule" };

test.each<[string, Toleration, boolean]>([
  ["everything", { operator: "Exists" }, true],
  ["the key", { key: "gpu", operator: "Exists" }, true],
  ["the value", { key: "gpu", value: "yes" }, true],
  ["another value", { key: "gpu", operator: "Equal", value: "no" }, false],
  ["another key", { key: "cpu", operator: "Exists" }, false],
  ["the effect", { operator: "Exists", effect: "NoSchedule" }, true],
  ["another effect", { operator: "Exists", effect: "NoExecute" }, false],
  ["an operator that is off by default", { key: "gpu", operator: "Gt", value: "1" }, false],
])("a toleration of %s tolerates: %j %p", (_, toleration, expected) => {
  expect(tolerates([toleration], taint)).toBe(expected);
});

test("only NoSchedule and NoExecute keep pods away, and PreferNoSchedule costs points", () => {
  const taints = ["NoSchedule", "NoExecute", "PreferNoSchedule"].map((effect) => ({ key: "k", effect }));
  expect(taints.map((one) => hasUntoleratedTaint([one], []))).toEqual([true, true, false]);
  expect(intolerableTaints(taints, [])).toBe(1);
  expect([taintScore(0, 0), taintScore(0, 3), taintScore(1, 3), taintScore(3, 3)]).toEqual([100, 100, 67, 0]);
});
