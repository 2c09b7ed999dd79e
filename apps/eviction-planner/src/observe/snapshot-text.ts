import type { PolicySnapshot } from "../decide/policy-decider.ts";

/**
 * A snapshot as `replay` reads it: columns of pods are lists of numbers in JSON. It has no Secrets and no credentials.
 */
export function policySnapshotText(snapshot: PolicySnapshot): string {
  return JSON.stringify(snapshot, (_name, value: unknown) =>
    ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<number>) : value,
  );
}
