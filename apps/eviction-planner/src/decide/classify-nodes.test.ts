import { expect, test } from "@jest/globals";
import { NO_MEMORY, NOW, snapshotOf } from "../testing/sample-snapshot.ts";
import { classifyNodes } from "./classify-nodes.ts";
import type { PlanMemory } from "./snapshot.ts";
import { utilisationOf } from "./utilisation.ts";

function classified(loads: readonly (number | null)[], memory: PlanMemory | null, at = NOW) {
  const nodes = loads.map((load, index) => ({ name: `n${index}`, rest: load }));
  const snapshot = snapshotOf({ nodes, pods: [] }, {}, { memory, at });
  return classifyNodes(snapshot, utilisationOf(snapshot.cluster, "usage", { cpu: 1, memory: 1 }, memory));
}

test("a node is hot with the second sample at the threshold", () => {
  const first = classified([0.8, 0.5, 0.6], NO_MEMORY);
  expect(first).toMatchObject({ hot: 0, cold: 0 });
  const second = classified([0.8, 0.5, 0.6], { ...NO_MEMORY, levels: first.levels }, NOW + 30_000);
  expect(second).toMatchObject({ hot: 1, cold: 1, isHot: [true, false, false] });
});

test("a hot node stays hot until it is below the threshold by more than the hysteresis", () => {
  const levels = { n0: { level: "above", since: 0 }, n1: { level: "above", since: 0 } } as const;
  const next = classified([0.76, 0.74], { ...NO_MEMORY, levels });
  expect(next.isHot).toEqual([true, true]);
  expect(classified([0.76, 0.74], { ...NO_MEMORY, levels: next.levels }, NOW + 30_000).isHot).toEqual([true, false]);
});

test("one sample is enough for a question that nobody carries out", () => {
  expect(classified([0.8, 0.5, 0.6], null)).toMatchObject({ hot: 1, cold: 1 });
});

test("a frozen node keeps what is remembered of it, and is neither hot nor cold", () => {
  const levels = { n0: { level: "above", since: 0 } } as const;
  expect(classified([null, 0.6], { ...NO_MEMORY, levels })).toMatchObject({ hot: 0, isHot: [false], levels });
});
