import type { TriggerReading } from "../decide/snapshot.ts";

/** What is known of a service's idleness before a look. Times are milliseconds since 1970; null is what nothing is known of. */
export interface Idleness {
  readonly createdAt: number | null;
  /** What came of the looks before. */
  readonly since: number | null;
  readonly lookedAt: number | null;
}

/**
 * From when a service is idle as far as its triggers tell: from this look where one says that there is traffic. One that says nothing stops the clock: the time since the
 * look before counts for neither, so that it is as if it had not passed.
 */
export function idleSince(
  { createdAt, since, lookedAt }: Idleness,
  triggers: readonly TriggerReading[],
  now: number,
): number | null {
  if (triggers.some(({ verdict }) => verdict === "busy")) return now;
  const begun = since ?? createdAt;
  const isSilent = triggers.some(({ verdict }) => verdict === "unknown");
  if (!isSilent || begun === null || lookedAt === null) return since;
  return begun + Math.max(0, now - lookedAt);
}
