import type { Activity, TriggerReading } from "../decide/snapshot.ts";

/** What is known of a service's idleness before a look. Times are milliseconds since 1970; null is what nothing is known of. */
export interface Idleness {
  readonly createdAt: number | null;
  /** What came of the looks before. */
  readonly since: number | null;
  readonly lookedAt: number | null;
}

/** What a look found. */
export interface Signs {
  readonly triggers: readonly TriggerReading[];
  readonly activity: Pick<Activity, "lastRequestAt"> | null;
}

/**
 * From when a service is idle: from this look where a trigger reports traffic, and from the last request that the resolver saw, which may be too little for a trigger. A
 * trigger that says nothing stops the clock: the time since the look before counts for neither, so that it is as if it had not passed.
 */
export function idleSince(
  { createdAt, since, lookedAt }: Idleness,
  { triggers, activity }: Signs,
  now: number,
): number | null {
  if (triggers.some(({ verdict }) => verdict === "busy")) return now;
  // Another replica's clock may be ahead of this one's.
  const requestAt = Math.min(activity?.lastRequestAt ?? -Infinity, now);
  const last = Math.max(since ?? -Infinity, requestAt);
  const begun = Number.isFinite(last) ? last : null;
  const isSilent = triggers.some(({ verdict }) => verdict === "unknown");
  const start = begun ?? createdAt;
  if (!isSilent || start === null || lookedAt === null) return begun;
  return Math.min(now, start + Math.max(0, now - lookedAt));
}
