import {
  type Memory,
  type MetricFault,
  type MetricReading,
  NO_MEMORY,
  type PolicySnapshot,
  type TargetReading,
  type WeightSnapshot,
} from "../decide/snapshot.ts";

/** A Monday, at noon. */
export const NOON = "2026-11-16T12:00:00.000Z";

/** The policy of the original's README: 1000 for a base of 8, and nothing else. */
export const SEED_POLICY: PolicySnapshot = {
  targetValue: 1000,
  baseValue: 8,
  minimum: 0,
  maximum: null,
  scope: "total",
  tolerance: 0,
  disableScaleIn: false,
  smoothing: 0,
  maxStepUp: null,
  maxStepDown: null,
  cooldownUp: 0,
  cooldownDown: 0,
  settle: null,
  onNoData: "hold",
  noDataValue: null,
  scheduled: [],
  timeZone: "UTC",
};

/** A record of Route 53 with a base of 8 and a TTL of a minute. */
export function record(weight: number | null, changes: Partial<TargetReading> = {}): TargetReading {
  return {
    target: "route53 Z1/example.com A aws",
    minimum: 0,
    maximum: 255,
    weight,
    others: [{ name: "base", weight: 8 }],
    timeToLive: 60_000,
    pending: false,
    message: weight === null ? "Rate exceeded" : null,
    ...changes,
  };
}

export function measured(value: string, source = "prometheus http://prometheus:9090"): MetricReading {
  return { source, value, sampledAt: NOON, fault: null, message: null };
}

export function unmeasured(fault: MetricFault, message: string, source?: string): MetricReading {
  return { source: source ?? "prometheus http://prometheus:9090", value: null, sampledAt: null, fault, message };
}

export interface SeedChanges extends Partial<Omit<WeightSnapshot, "policy" | "memory">> {
  readonly policy?: Partial<PolicySnapshot>;
  readonly memory?: Partial<Memory>;
}

/** The world of the original's README, with what a test is about changed: 3000 is measured, the record has weight 8. */
export function seedSnapshot({ policy, memory, ...changes }: SeedChanges = {}): WeightSnapshot {
  return {
    at: NOON,
    rebalance: { namespace: "default", name: "aws-env", generation: 1 },
    dryRun: false,
    blocked: null,
    onExternalChange: "enforce",
    combine: "max",
    metrics: [measured("3000")],
    targets: [record(8)],
    ...changes,
    policy: { ...SEED_POLICY, ...policy },
    memory: { ...NO_MEMORY, ...memory },
  };
}
