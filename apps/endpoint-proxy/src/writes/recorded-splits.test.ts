import { MetricRegistry } from "@evenkeel/metrics";
import { Decisions } from "@evenkeel/runtime";
import { FakeHost } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { proxyDecider } from "../decide/proxy-decider.ts";
import { NO_POLICY } from "../decide/split-policy.ts";
import type { SplitSnapshot } from "../decide/split-snapshot.ts";
import { splitDecider } from "../decide/split.ts";
import { recordedSplits } from "./recorded-splits.ts";

/** Two equal clusters that hold some replicas of web, which is to have 6 in all. */
function snapshot(at: string, ...held: readonly [number, number]): SplitSnapshot {
  const free = { cpu: 100_000, memory: 2 ** 40, pods: 100 };
  const score = { source: "watts", score: 100, marginalWatts: 10, free } as const;
  return {
    ...{ at, kind: "Deployment", namespace: "shop", name: "web", total: 6, dryRun: false, policy: NO_POLICY },
    requests: { cpu: 100, memory: 0 },
    members: ["a", "b"].map((name, index) => ({
      ...{ name, own: index === 0, standing: "Ready", score, held: held[index] ?? 0 },
      placedSince: { cpu: 0, memory: 0, pods: 0 },
    })),
  };
}

test("a workload that is created again with the same parts is news, one that is written again is not", async () => {
  const decisions = new Decisions({
    ...{ service: "endpoint-proxy", version: "1.0.0", decider: proxyDecider, dryRun: false },
    ...{ recorder: { count: 10, bytes: 100_000 }, log: new FakeHost().log(), metrics: new MetricRegistry() },
  });
  const record = recordedSplits(decisions);
  const worlds = [
    snapshot("2026-01-01T00:00:01Z", 0, 0),
    snapshot("2026-01-01T00:00:02Z", 3, 3),
    snapshot("2026-01-01T00:00:03Z", 3, 3),
    // It was deleted, by whomever.
    snapshot("2026-01-01T00:00:04Z", 0, 0),
    // An autoscaler changed the part of b.
    snapshot("2026-01-01T00:00:05Z", 3, 1),
  ];
  for (const world of worlds) record(splitDecider.decide(world), world);
  const told = await decisions.ring.list({}, 10);
  expect(told.map(({ at, action }) => [at.slice(-3), action])).toEqual([
    ["05Z", "split"],
    ["04Z", "split"],
    ["02Z", "keep"],
    ["01Z", "split"],
  ]);
});
