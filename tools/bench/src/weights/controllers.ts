import { TTL } from "./plant.ts";
import {
  measured,
  type Memory,
  nextMemory,
  NO_MEMORY,
  originalWeight,
  type PolicySnapshot,
  record,
  SEED_POLICY,
  seedSnapshot,
  unmeasured,
  weightDecider,
} from "./rebalancer.ts";
import type { Sight } from "./traces.ts";

export const BASE = 8;
export const TARGET = 1000;
/** The most that Route 53 takes. */
export const MOST = 255;

export const SCOPES = ["total", "base"] as const;
export type Scope = (typeof SCOPES)[number];

/** Something that gives a record its weight. What it answers is written, unless Route 53 refuses it. */
export interface Controller {
  readonly name: string;
  weight(second: number, seen: Sight, now: number): number;
}

/** One policy for every trace; a user would write it as tolerance: 0.15 and smoothing: 45s. */
export const POLICY: PolicySnapshot = {
  ...SEED_POLICY,
  targetValue: TARGET,
  baseValue: BASE,
  minimum: 1,
  maximum: 200,
  tolerance: 0.15,
  smoothing: 45_000,
};

/** The same without what steadies it: all that the original has. */
export const BARE_POLICY: PolicySnapshot = { ...POLICY, tolerance: 0, smoothing: 0 };

/** weight-rebalancer's decision, with its memory carried on from reconcile to reconcile. */
export function evenkeel(scope: Scope, policy: PolicySnapshot = POLICY): Controller {
  let memory: Memory = NO_MEMORY;
  return {
    name: "evenkeel",
    weight: (second, seen, now) => {
      const snapshot = seedSnapshot({
        at: new Date(second * 1000).toISOString(),
        policy: { ...policy, scope },
        metrics: [reading(seen)],
        targets: [record(now, { timeToLive: TTL * 1000, others: [{ name: "base", weight: BASE }] })],
        memory,
      });
      const verdict = weightDecider.decide(snapshot);
      memory = nextMemory(snapshot, verdict, []);
      return verdict.after ?? now;
    },
  };
}

/** The original's rule. A query without samples is an error to it, and changes nothing. */
export function original(): Controller {
  return {
    name: "original",
    weight: (_second, seen, now) =>
      seen === "no data"
        ? now
        : originalWeight({ metric: Number(seen), target: TARGET, base: BASE, minimum: POLICY.minimum }),
  };
}

function reading(seen: Sight) {
  if (seen === "no data") return unmeasured("NoData", "no samples");
  return seen === "NaN" ? unmeasured("NotANumber", "NaN") : measured(String(seen));
}
