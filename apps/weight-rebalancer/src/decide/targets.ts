import type { Memory, TargetReading } from "./snapshot.ts";

/** A target whose weight is known. */
export type ReadableTarget = TargetReading & { readonly weight: number };

export function readableTargets(targets: readonly TargetReading[]): readonly ReadableTarget[] {
  return targets.filter((target): target is ReadableTarget => target.weight !== null);
}

/** The weight that the target can have, nearest to the one it should have. */
export function within({ minimum, maximum }: Pick<TargetReading, "minimum" | "maximum">, weight: number): number {
  return Math.min(Math.max(weight, minimum), maximum);
}

/** The targets that have another weight than they should. */
export function outOfStep(targets: readonly ReadableTarget[], weight: number): readonly ReadableTarget[] {
  return targets.filter((target) => target.weight !== within(target, weight));
}

/**
 * The targets that somebody else has changed since the last weight was carried out. One with a change on its way proves nothing;
 * while the last weight is not known, nothing does.
 */
export function changedByOthers(targets: readonly ReadableTarget[], { desired }: Memory): readonly ReadableTarget[] {
  if (desired === null) return [];
  return outOfStep(targets, desired).filter(({ pending }) => !pending);
}

/** The weight in force: what was last carried out if all have it, else what the first target that differs has. */
export function weightInForce(targets: readonly ReadableTarget[], { desired }: Memory): number | null {
  const [first] = targets;
  if (!first) return null;
  return desired === null ? first.weight : (outOfStep(targets, desired)[0]?.weight ?? desired);
}

/**
 * A target that a weight would leave without any. Where all weights are 0, Route 53 takes them for equal parts and a Gateway
 * answers with errors: the opposite of what 0 is meant for.
 */
export function leftWithoutWeight(targets: readonly ReadableTarget[], weight: number): ReadableTarget | undefined {
  return targets.find((target) => within(target, weight) === 0 && target.others.every((other) => other.weight === 0));
}
