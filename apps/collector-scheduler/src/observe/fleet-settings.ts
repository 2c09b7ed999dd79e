import { type CollectorLoadBalancerSpec, durationMilliseconds } from "@evenkeel/api";
import type { FleetSettings, ScaleSettings } from "../decide/snapshot.ts";

/** Milliseconds. */
const SEAT_GRACE = 120_000;
const COOLDOWN = 60_000;
const TARGET_REFRESH = 10_000;

/** The settings of an object with defaults filled in. `handOver.jobs` names jobs with or without their receiver. */
export function fleetSettings(
  { placement = {}, handOver = {} }: CollectorLoadBalancerSpec,
  jobs: readonly { readonly key: string; readonly name: string }[],
): FleetSettings {
  const named = handOver.jobs && new Set(handOver.jobs);
  return {
    pool: placement.pool ?? "none",
    fallback: placement.fallback ?? "any",
    seatGrace: milliseconds(placement.seatGrace) ?? SEAT_GRACE,
    movesPerMinute: placement.movesPerMinute ?? null,
    cooldown: milliseconds(placement.cooldown) ?? COOLDOWN,
    handOver: handOver.policy ?? "overlap",
    handOverJobs: named
      ? jobs.filter(({ key, name }) => named.has(key) || named.has(name)).map(({ key }) => key)
      : null,
  };
}

/** `present` is the number of replicas that the StatefulSet has. */
export function scaleSettings(
  { replicas, scale }: CollectorLoadBalancerSpec,
  present: number,
  knownTargets: number,
): ScaleSettings {
  const scaler = scale?.enabled
    ? {
        expectedTargets: scale.expected_targets_per_collector ?? null,
        min: scale.min_replicas ?? null,
        max: scale.max_replicas ?? null,
      }
    : null;
  return { present, replicas: replicas ?? null, scaler, knownTargets };
}

/** Milliseconds between two polls of a collector. */
export function targetRefresh({ targetRefresh: refresh }: CollectorLoadBalancerSpec): number {
  // Less than a millisecond cannot be said to a collector.
  return Math.max(1, Math.round(milliseconds(refresh) ?? TARGET_REFRESH));
}

function milliseconds(text: string | undefined): number | undefined {
  return text === undefined ? undefined : durationMilliseconds(text);
}
