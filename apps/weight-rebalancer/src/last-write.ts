import type { RebalanceStatus } from "@evenkeel/api";
import type { Memory } from "./decide/snapshot.ts";

export type LastWrite = NonNullable<RebalanceStatus["lastWrite"]>;

/** What a status tells of the last write. The moving average is not part of it. */
export function memoryOf({ weight, changedAt, raisedAt, generation, unwritten = [] }: LastWrite): Memory {
  const instant = (text: string | undefined) => (text === undefined ? null : Date.parse(text));
  return {
    smoothed: null,
    desired: weight ?? null,
    changedAt: instant(changedAt),
    raisedAt: instant(raisedAt),
    yieldedAt: generation ?? null,
    unwritten,
  };
}

/** The part of a memory that the status keeps. */
export function lastWriteOf({ desired, changedAt, raisedAt, yieldedAt, unwritten }: Memory): LastWrite {
  const text = (instant: number) => new Date(instant).toISOString();
  return {
    ...(desired === null ? {} : { weight: desired }),
    ...(changedAt === null ? {} : { changedAt: text(changedAt) }),
    ...(raisedAt === null ? {} : { raisedAt: text(raisedAt) }),
    ...(yieldedAt === null ? {} : { generation: yieldedAt }),
    ...(unwritten.length === 0 ? {} : { unwritten: [...unwritten] }),
  };
}
