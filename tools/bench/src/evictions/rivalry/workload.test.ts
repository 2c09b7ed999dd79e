import { describe, expect, test } from "@jest/globals";
import { NODE_CPU, sceneOf, type Sizes } from "./workload.ts";

describe("a scene", () => {
  test.each<Sizes>(["equal", "uniform", "lognormal"])(
    "with %s sizes has level nodes in its first half only",
    (sizes) => {
      const { nodes, pods, workloads } = sceneOf(sizes, { nodes: 100, workloads: 60 });
      const levels = new Float64Array(nodes);
      for (const { workload, node } of pods)
        levels[node] = (levels[node] ?? 0) + (workloads[workload]?.cpu ?? NaN) / NODE_CPU;
      expect(pods).toHaveLength(1500);
      expect(Math.min(...levels.slice(0, 50))).toBeGreaterThan(0.65);
      expect(Math.max(...levels.slice(0, 50))).toBeLessThan(0.9);
      expect(Math.max(...levels.slice(50))).toBe(0);
    },
  );

  test("is the same each time", () => {
    const extent = { nodes: 20, workloads: 12 };
    expect(sceneOf("lognormal", extent)).toEqual(sceneOf("lognormal", extent));
  });

  test("has usage that differs from requests only if asked for", () => {
    const usages = (hasOwnUsage: boolean) =>
      new Set(sceneOf("uniform", { nodes: 20, workloads: 12 }, hasOwnUsage).workloads.map(({ usage }) => usage));
    expect(usages(false)).toEqual(new Set([1]));
    expect(usages(true).size).toBe(12);
  });
});
