import type { ScaleSettings } from "./snapshot.ts";

/** Why the number of collectors cannot be told from the spec. */
export type ScaleFault = "NoExpectedTargets" | "MinimumAboveMaximum" | "NoReplicas";

export interface Replicas {
  /** Null while it is not known: nothing is scaled. */
  readonly wanted: number | null;
  readonly fault: { readonly code: ScaleFault; readonly message: string } | null;
  /** Since when fewer collectors would do, in milliseconds; to be kept as {@link Memory.fewerSince}. */
  readonly fewerSince: number | null;
}

/** Milliseconds for which fewer collectors must do before there are fewer. */
export const WINDOW = 300_000;

/** A collector less is enough when targets are below this part of what the others should carry. */
const SPARE = 0.8;

/**
 * How many collectors are to run. Without the scaler, `replicas` rules. With it, ceil(targets / expected) between minimum
 * and maximum: more at once, fewer after a window. `targets` is null while it is not known.
 */
export function replicasOf(
  { present, replicas, scaler }: ScaleSettings,
  targets: number | null,
  fewerSince: number | null,
  now: number,
): Replicas {
  if (scaler === null) {
    if (replicas === null) return faulty("NoReplicas", "Set spec.replicas, or enable spec.scale");
    return { wanted: replicas, fault: null, fewerSince: null };
  }
  const { expectedTargets, min, max } = scaler;
  if (expectedTargets === null || expectedTargets <= 0) {
    const message = `spec.scale.expected_targets_per_collector is ${expectedTargets ?? "absent"}: set it to at least 1`;
    return faulty("NoExpectedTargets", message);
  }
  const [least, most] = [Math.max(0, min ?? 1), max ?? Infinity];
  if (least > most) {
    const message = `spec.scale.min_replicas ${least} is above max_replicas ${most}: no number of collectors fits`;
    return faulty("MinimumAboveMaximum", message);
  }
  if (targets === null) return { wanted: null, fault: null, fewerSince: null };
  const clamped = (count: number) => Math.min(Math.max(count, least), most);
  const enough = clamped(Math.ceil(targets / expectedTargets));
  if (enough >= present) return { wanted: enough, fault: null, fewerSince: null };
  if (present > most) return { wanted: most, fault: null, fewerSince: null };
  const isSpare = targets <= SPARE * (present - 1) * expectedTargets;
  if (!isSpare) return { wanted: present, fault: null, fewerSince: null };
  const since = Math.min(fewerSince ?? now, now);
  return { wanted: now - since >= WINDOW ? enough : present, fault: null, fewerSince: since };
}

function faulty(code: ScaleFault, message: string): Replicas {
  return { wanted: null, fault: { code, message }, fewerSince: null };
}
