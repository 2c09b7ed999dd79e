import type { Memory, TargetReading } from "./snapshot.ts";

/** A target with a known weight. */
export type ReadableTarget = TargetReading & { readonly weight: number };

export function readableTargets(targets: readonly TargetReading[]): readonly ReadableTarget[] {
  return targets.filter((target): target is ReadableTarget => target.weight !== null);
}

/** The weight that the target accepts, nearest to `weight`. */
export function within({ minimum, maximum }: Pick<TargetReading, "minimum" | "maximum">, weight: number): number {
  return Math.min(Math.max(weight, minimum), maximum);
}

/** The targets with another weight than `weight`. */
export function outOfStep(targets: readonly ReadableTarget[], weight: number): readonly ReadableTarget[] {
  return targets.filter((target) => target.weight !== within(target, weight));
}

/**
 * The targets that another client has changed since the last weight was written. A target with a pending change, or
 * that did not accept the last weight, is left out, and while the last weight is unknown there is none.
 */
export function changedByOthers(
  targets: readonly ReadableTarget[],
  { desired, unwritten }: Memory,
): readonly ReadableTarget[] {
  if (desired === null) return [];
  return outOfStep(targets, desired).filter(({ target, pending }) => !pending && !unwritten.includes(target));
}

/**
 * The weight in force: the last one that was written if all have it, else that of the first target that differs. A
 * target that did not accept the last weight does not count.
 */
export function weightInForce(targets: readonly ReadableTarget[], { desired, unwritten }: Memory): number | null {
  const [first] = targets;
  if (!first) return null;
  if (desired === null) return first.weight;
  return outOfStep(targets, desired).find(({ target }) => !unwritten.includes(target))?.weight ?? desired;
}

/**
 * A target in a set that would have no weight above 0. If all weights are 0, Route 53 treats them as equal and a
 * Gateway answers with errors, which is the opposite of what 0 means.
 */
export function leftWithoutWeight(targets: readonly ReadableTarget[], weight: number): ReadableTarget | undefined {
  return targets.find((target) => within(target, weight) === 0 && target.others.every((other) => other.weight === 0));
}
