import { durationMilliseconds, type Rebalance } from "@evenkeel/api";
import { hashText } from "@evenkeel/scoring";

const DEFAULT = 60_000;

/** Milliseconds between two turns of a Rebalance; at least a second. */
export function intervalOf({ interval }: Pick<Rebalance["spec"], "interval">): number {
  return Math.max(1000, durationMilliseconds(interval ?? "") ?? DEFAULT);
}

/** Up to this part of the interval, and up to a second, turns are put off so that they do not all begin at once. */
const SPREAD = 0.05;

/**
 * Milliseconds until the next turn. Turns of equal intervals fall together, so that the changes of a zone go out as one: that
 * costs a call where turns at odd times would cost one each.
 */
export function untilNextReconcile(now: number, interval: number, key: string): number {
  const part = hashText(key).low / 2 ** 32;
  return interval - (now % interval) + part * Math.min(1000, interval * SPREAD);
}
