/** google.protobuf.Duration. */
export interface DurationMessage {
  readonly seconds: bigint;
  readonly nanos: number;
}

/** Milliseconds since 1970 as a timestamp; null is omitted. */
export function timeMessage(time: number | null): string | undefined {
  return time === null ? undefined : new Date(time).toISOString();
}

/** Milliseconds as a duration; null is omitted. */
export function durationMessage(milliseconds: number | null): DurationMessage | undefined {
  if (milliseconds === null) return undefined;
  const whole = Math.max(0, Math.round(milliseconds));
  return { seconds: BigInt(Math.floor(whole / 1000)), nanos: (whole % 1000) * 1_000_000 };
}

/** A duration in milliseconds. */
export function millisecondsOf({ seconds, nanos }: DurationMessage): number {
  return Number(seconds) * 1000 + nanos / 1_000_000;
}
