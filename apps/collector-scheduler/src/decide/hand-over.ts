import type { Exception, Poll } from "./assignments.ts";
import type { Collector, HandOver } from "./snapshot.ts";

/**
 * Milliseconds from a poll until a collector has taken over what it was told: its throttles of discovery and reload.
 */
export const SETTLE = 10_000;

/**
 * Part of an interval after that until the former owner loses the target. A whole one would leave no time for the rest
 * of the way: both could scrape for a moment longer than interval, poll and twice the throttles. With less than 0.8 a
 * target could wait more than 1.2 intervals for its next scrape, where the two collectors scrape at different moments.
 */
const SHARE_OF_INTERVAL = 0.9;

/** What becomes of a hand-over. */
export type Step =
  | {
      readonly kind: "wait";
      readonly exception: Exception;
      /** When it ends; null while a poll is awaited. */ readonly until: number | null;
    }
  /** The owner has the target alone. */
  | { readonly kind: "done"; readonly exception: Exception }
  /** Both collectors are dead. */
  | { readonly kind: "orphan" };

export interface StepTerms {
  /** The last poll of a collector for a job. */
  readonly pollOf: (collector: string, job: string) => Poll | undefined;
  readonly now: number;
  /** When the step is recorded, as {@link Assignments.at}. */
  readonly at: number;
  readonly isAlive: (name: string) => boolean;
  readonly seatOf: (name: string) => Pick<Collector, "awaySince" | "readySince"> | undefined;
}

/**
 * One step of a hand-over. Overlap: the new owner is served the target too, until its poll was seen and a scrape had
 * time to happen. Gap: nobody is served it, until the poll of the former owner was seen and its scrapes had time to
 * stop. A dead new owner gives the target back; a dead former owner ends the hand-over. While the pod of the new owner
 * is away the hand-over waits, and a poll from before its return does not count: the process that polled is gone.
 */
export function handOverStep(handOver: HandOver, { pollOf, now, at, isAlive, seatOf }: StepTerms): Step {
  const { owner, from, gap, since, diedAt, job, interval } = handOver;
  const died = diedAt === null ? {} : { diedAt };
  if (!isAlive(owner) && !isAlive(from)) return { kind: "orphan" };
  if (!isAlive(owner)) return { kind: "done", exception: { owner: from, since: at, diedAt: now } };
  if (!isAlive(from)) return { kind: "done", exception: { owner, since, ...died } };
  const awaited = gap ? from : owner;
  const poll = pollOf(awaited, job);
  const isAway = (seatOf(owner)?.awaySince ?? null) !== null;
  const readySince = gap ? -Infinity : (seatOf(owner)?.readySince ?? -Infinity);
  const isTold = poll !== undefined && poll.seen >= since && poll.at >= readySince;
  const polledAt = isAway && !gap ? null : (handOver.seenAt ?? (isTold ? poll.at : null));
  // A time to come means that the clock has jumped back: the wait begins again.
  const seenAt = polledAt === null ? null : Math.min(polledAt, now);
  const exception = { owner, from, ...(gap && { gap }), since, ...(seenAt !== null && { seenAt }), ...died };
  if (seenAt === null || isAway) return { kind: "wait", exception, until: null };
  const until = seenAt + SETTLE + (gap ? 0 : SHARE_OF_INTERVAL * interval);
  return now >= until ? { kind: "done", exception: { owner, since, ...died } } : { kind: "wait", exception, until };
}
