import { describe, expect, test } from "@jest/globals";
import { type PodSpec, snapshotOf, type World } from "../testing/sample-snapshot.ts";
import { plan } from "./plan.ts";

/** Instances of each size. The long test has enough of them for a good estimate of the fifth percentile. */
const INSTANCES = process.env["SOAK"] === undefined ? { small: 10, large: 5 } : { small: 150, large: 80 };

/** Plans are compared with the best of all assignments of pods to nodes, wherever the scheduler would put them. */
describe("on enumerated instances", () => {
  test.each<[string, Size]>([
    ["5 nodes and 9 pods, every budget", { nodes: 5, pods: 9, mostMoves: 9, instances: INSTANCES.small }],
    ["8 nodes and 14 pods, up to 4 evictions", { nodes: 8, pods: 14, mostMoves: 4, instances: INSTANCES.large }],
  ])(
    "a plan has nearly all of the possible fall of σ, and the bound is never above the optimum: %s",
    (_sentence, size) => {
      const shares: number[] = [];
      const above: number[] = [];
      for (let seed = 1; seed <= size.instances; seed += 1) {
        const world = instance(seed, size);
        const optimum = optima(world, size.mostMoves);
        for (let budget = 1; budget <= size.mostMoves; budget += 1) {
          const { sigma, curve } = plan(snapshotOf(world, POLICY, { budget }));
          const { before, predicted } = sigma ?? { before: NaN, predicted: NaN };
          const best = optimum[budget] ?? NaN;
          if ((curve.bound[budget] ?? curve.bound.at(-1) ?? NaN) > best + 1e-9) above.push(seed);
          if (before - best > 1e-6) shares.push((before - predicted) / (before - best));
        }
      }
      shares.sort((a, b) => a - b);
      expect(above).toEqual([]);
      expect(shares.length).toBeGreaterThan(size.instances * 2);
      expect(quantile(shares, 0.5)).toBeGreaterThanOrEqual(0.98);
      expect(quantile(shares, 0.05)).toBeGreaterThanOrEqual(0.9);
    },
    600_000,
  );
});

interface Size {
  readonly nodes: number;
  readonly pods: number;
  readonly mostMoves: number;
  readonly instances: number;
}

const POLICY = { targetSigma: 0, hotThreshold: 1, hysteresis: 0, basis: "requests" } as const;

/** Pods of uneven size on nodes of uneven fill. */
function instance(seed: number, { nodes, pods }: Size): World {
  const random = randomNumbers(seed);
  const pull = Array.from({ length: nodes }, () => random() ** 2);
  const all = pull.reduce((sum, weight) => sum + weight, 0);
  const chosen = () => {
    let left = random() * all;
    return Math.max(
      0,
      pull.findIndex((weight) => (left -= weight) < 0),
    );
  };
  return {
    nodes: pull.map((_, node) => ({ name: `n${node}`, capacity: 2 })),
    pods: Array.from({ length: pods }, (): PodSpec => ({
      node: `n${chosen()}`,
      load: Math.round(20 + 300 * random()) / 1000,
    })),
  };
}

function randomNumbers(seed: number): () => number {
  let state = seed * 7919;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}

/** The least σ for each number of moves. */
function optima({ nodes, pods }: World, mostMoves: number): readonly number[] {
  const homes = pods.map(({ node }) => nodes.findIndex(({ name }) => name === node));
  const sizes = pods.map(({ load }) => (load ?? 0) / 2);
  const levels = new Float64Array(nodes.length);
  homes.forEach((home, pod) => (levels[home] = (levels[home] ?? 0) + (sizes[pod] ?? 0)));
  const mean = levels.reduce((sum, level) => sum + level, 0) / nodes.length;
  const least = new Float64Array(mostMoves + 1).fill(Infinity);
  const place = (pod: number, moves: number): void => {
    if (pod === pods.length) {
      let squares = 0;
      for (const level of levels) squares += (level - mean) ** 2;
      if (squares < (least[moves] as number)) least[moves] = squares;
      return;
    }
    place(pod + 1, moves);
    if (moves === mostMoves) return;
    const [home, size] = [homes[pod] as number, sizes[pod] as number];
    const before = levels[home] as number;
    levels[home] = before - size;
    for (let node = 0; node < levels.length; node += 1) {
      if (node === home) continue;
      const there = levels[node] as number;
      levels[node] = there + size;
      place(pod + 1, moves + 1);
      levels[node] = there;
    }
    levels[home] = before;
  };
  place(0, 0);
  return Array.from(least, (_, moves) => Math.sqrt(Math.min(...least.subarray(0, moves + 1)) / nodes.length));
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(share * (sorted.length - 1))] ?? NaN;
}
