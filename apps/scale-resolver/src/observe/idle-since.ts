import type { Activity, ServiceSnapshot, TriggerReading } from "../decide/snapshot.ts";

/** The known idleness of a service before an observation. Times are milliseconds since 1970; null means unknown. */
export interface Idleness {
  readonly createdAt: number | null;
  /** The result of the previous observations. */
  readonly since: number | null;
  readonly observedAt: number | null;
}

type ServiceParts = Pick<ServiceSnapshot, "stage" | "pods" | "activity"> & {
  readonly policy: Pick<ServiceSnapshot["policy"], "settle">;
};

/** The results of an observation. */
export interface Signs {
  readonly triggers: readonly TriggerReading[];
  readonly activity: Pick<Activity, "lastRequestAt"> | null;
}

/**
 * The activity that counts as traffic. While a pod is ready in Serve, and so before a Guard for sleep, nodes send no
 * requests to the resolver once they have followed. Clients that ignore that its endpoints terminate do, such as a
 * Prometheus that discovers EndpointSlices: they would keep the service awake.
 */
export function trafficOf({ stage, pods, policy, activity }: ServiceParts): Signs["activity"] {
  const { state, since, purpose } = stage;
  const requestAt = activity?.lastRequestAt ?? -Infinity;
  if (state === "Serve" && pods !== null && pods.ready > 0) return requestAt <= since + policy.settle ? activity : null;
  return state === "Guard" && purpose === "sleep" && requestAt <= since ? null : activity;
}

/**
 * Since when a service is idle: since now if a trigger reports traffic, or since the last request at the resolver,
 * which may be too little for a trigger. While a trigger is unknown, the clock stops: the time since the previous
 * observation does not count.
 */
export function idleSince(
  { createdAt, since, observedAt }: Idleness,
  { triggers, activity }: Signs,
  now: number,
): number | null {
  if (triggers.some(({ verdict }) => verdict === "busy")) return now;
  // The clock of another replica may be ahead.
  const requestAt = Math.min(activity?.lastRequestAt ?? -Infinity, now);
  const last = Math.max(since ?? -Infinity, requestAt);
  const begun = Number.isFinite(last) ? last : null;
  const isSilent = triggers.some(({ verdict }) => verdict === "unknown");
  const start = begun ?? createdAt;
  if (!isSilent || start === null || observedAt === null) return begun;
  return Math.min(now, start + Math.max(0, now - observedAt));
}
