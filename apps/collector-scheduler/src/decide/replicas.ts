import type { ScaleSettings } from "./snapshot.ts";

/** Why the number of collectors cannot be told from the spec. */
export type ScaleFault = "NoExpectedTargets" | "MinimumAboveMaximum" | "NoReplicas" | "TooManyReplicas";

export interface Replicas {
  /** Null while it is not known: nothing is scaled. */
  readonly wanted: number | null;
  readonly fault: { readonly code: ScaleFault; readonly message: string } | null;
  /** Since when fewer collectors would do, in milliseconds; to be kept as {@link Memory.fewerSince}. */
  readonly fewerSince: number | null;
}

/** Milliseconds for which fewer collectors must do before there are fewer. */
export const WINDOW = 300_000;

/** Collectors of one object at most. */
export const MOST_COLLECTORS = 10_000;

/** A collector less is enough when targets are below this part of what the others should carry. */
const SPARE = 0.8;

/**
 * How many collectors are to run. Without the scaler, `replicas` rules. With it, ceil(targets / expected) between
 * minimum and maximum: more at once, fewer after a window. `targets` is null while it is not known: then there are
 * never fewer, and as many as the targets that are known need, so that one silent source does not stop the others.
 */
export function replicasOf(
  { present, replicas, scaler, knownTargets = 0 }: ScaleSettings,
  targets: number | null,
  fewerSince: number | null,
  now: number,
): Replicas {
  if (scaler === null) {
    if (replicas === null) return faulty("NoReplicas", "Set spec.replicas, or enable spec.scale");
    if (replicas > MOST_COLLECTORS) return faulty("TooManyReplicas", tooMany("spec.replicas", replicas));
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
  if (least > MOST_COLLECTORS) return faulty("TooManyReplicas", tooMany("spec.scale.min_replicas", least));
  const enough = Math.min(Math.max(Math.ceil((targets ?? knownTargets) / expectedTargets), least), most);
  if (enough > MOST_COLLECTORS) {
    const message = tooMany("The number of collectors by spec.scale.expected_targets_per_collector", enough);
    return { wanted: MOST_COLLECTORS, fault: { code: "TooManyReplicas", message }, fewerSince: null };
  }
  if (targets === null) return { wanted: Math.max(present, enough), fault: null, fewerSince: null };
  if (enough >= present) return { wanted: enough, fault: null, fewerSince: null };
  if (present > most) return { wanted: most, fault: null, fewerSince: null };
  const isSpare = targets <= SPARE * (present - 1) * expectedTargets;
  if (!isSpare) return { wanted: present, fault: null, fewerSince: null };
  const since = Math.min(fewerSince ?? now, now);
  return { wanted: now - since >= WINDOW ? enough : present, fault: null, fewerSince: since };
}

function tooMany(what: string, count: number): string {
  return `${what} is ${count}, and one object has at most ${MOST_COLLECTORS} collectors: lower it, or split the object`;
}

function faulty(code: ScaleFault, message: string): Replicas {
  return { wanted: null, fault: { code, message }, fewerSince: null };
}
