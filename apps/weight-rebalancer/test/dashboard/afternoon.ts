import type { ScriptedWeights } from "./scripted-weights.ts";

const TARGET = 1000;
const BASE = 8;
/** Milliseconds between two turns. */
const TURN = 30_000;
const TURNS = 200;

/**
 * The metric of a busy afternoon: a long swell with small waves on it, a spike, and ten minutes in which nobody
 * measured.
 */
function metricAt(turn: number): number | null {
  if (turn >= 60 && turn < 74) return null;
  const swell = 1650 + 1150 * Math.sin((turn / TURNS) * 2.9 * Math.PI - 1.3);
  const waves = 70 * Math.sin(turn * 0.9) + 45 * Math.sin(turn * 2.3);
  const spike = turn > 112 && turn < 124 ? 900 : 0;
  return Math.round(Math.max(300, swell + waves + spike));
}

/** Fills `weights` with an afternoon that ended at `end`: a Rebalance that followed its metric, and three others. */
export function playAfternoon(weights: ScriptedWeights, end: Date, key = "shop/checkout"): void {
  let weight = 4;
  let held = false;
  const points = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const at = new Date(end.getTime() - (TURNS - 1 - turn) * TURN);
    const metric = metricAt(turn);
    const wanted = metric === null ? weight : Math.max(2, Math.ceil(BASE * (metric / TARGET - 1)));
    const after = turn % 6 === 0 ? Math.max(weight - 3, Math.min(weight + 6, wanted)) : weight;
    if (metric === null && !held) {
      const message = `Prometheus gave no sample; the weight stays ${weight}`;
      weights.decide(key, at, { action: "hold", reason: "NoData", before: weight, after: weight, message });
    }
    held = metric === null;
    if (metric !== null && after !== weight) {
      const times = (metric / TARGET).toFixed(2);
      const reason = after === wanted ? (after === 2 ? "Minimum" : "TargetTracking") : "StepLimit";
      const message = `Metric ${metric} is ${times} times the target ${TARGET}; the weight goes from ${weight} to ${after}`;
      weights.decide(key, at, { action: after > weight ? "raise" : "lower", reason, before: weight, after, message });
    }
    weight = after;
    points.push({
      at: at.toISOString(),
      ...(metric !== null && { metric }),
      targetValue: TARGET,
      desired: BigInt(weight),
      actual: BigInt(weight),
      share: weight / (weight + BASE),
    });
  }
  weights.points.set(key, points);
  const metric = metricAt(TURNS - 1) ?? 0;
  weights.set(key, {
    metric,
    targetValue: TARGET,
    desired: BigInt(weight),
    targets: [
      {
        name: "route53 Z1/www.example.com A blue",
        actual: BigInt(weight),
        share: weight / (weight + BASE),
      },
    ],
    reason: "WithinTolerance",
    message: `Metric ${metric} is ${(metric / TARGET).toFixed(2)} times the target ${TARGET}; a weight of ${weight} is near enough`,
    decidedAt: end.toISOString(),
    baseValue: BigInt(BASE),
    minimum: 2n,
    maximum: 255n,
    conditions: [
      {
        type: "Ready",
        status: "True",
        reason: "InStep",
        message: "The record has the weight that was decided",
        since: ago(end, 9),
      },
      {
        type: "MetricsAvailable",
        status: "True",
        reason: "Sampled",
        message: "Prometheus answered 1 s ago",
        since: ago(end, 33),
      },
      {
        type: "TargetSynced",
        status: "True",
        reason: "InStep",
        message: "route53 Z1/www.example.com A blue",
        since: ago(end, 3),
      },
      { type: "Paused", status: "False", reason: "Following", message: "", since: ago(end, 240) },
    ],
  });
  others(weights, end);
}

function others(weights: ScriptedWeights, end: Date): void {
  const common = { targetValue: 400, baseValue: 10n, minimum: 0n, maximum: 255n, decidedAt: ago(end, 1) };
  const target = (name: string, actual: bigint, share: number) => [
    { name: `route53 Z1/${name} A green`, actual, share },
  ];
  weights.set("media/images", {
    ...common,
    metric: 512,
    desired: 3n,
    targets: target("images.example.com", 3n, 3 / 13),
    reason: "TargetTracking",
    message: "Metric 512 is 1.28 times the target 400; the weight goes from 2 to 3",
  });
  weights.set("media/video", {
    ...common,
    desired: 12n,
    targets: target("video.example.com", 12n, 12 / 22),
    reason: "NoData",
    message: "Prometheus gave no sample; the weight stays 12",
  });
  weights.set("shop/search", {
    ...common,
    metric: 380,
    desired: 0n,
    paused: true,
    targets: target("search.example.com", 0n, 0),
    reason: "Paused",
    message: "The annotation evenkeel.io/paused is set; the weight stays 0",
  });
}

function ago(end: Date, minutes: number): string {
  return new Date(end.getTime() - minutes * 60_000).toISOString();
}
