import { UNKNOWN } from "../../decide/snapshot.ts";
import type { Measured } from "../usage/usage.ts";

/**
 * Milliseconds after which a measurement tells nothing about the present. metrics-server measures every 15 s to 60 s.
 */
const STALE = 5 * 60_000;

/** Milliseconds by which a pod may have started after the window: times of the API server have whole seconds. */
const ROUNDING = 1000;

export function isCurrent({ at: measuredAt }: Measured, at: number): boolean {
  return at - measuredAt <= STALE;
}

/**
 * The usage of a pod. It is unknown if its window began before the pod did: then the measurement is of an earlier pod
 * of the same name, or of a start that is no guide.
 */
export function podUsage(
  measured: Measured | undefined,
  startedAt: number,
  at: number,
): { readonly cpu: number; readonly memory: number } {
  if (measured === undefined || !isCurrent(measured, at)) return { cpu: UNKNOWN, memory: UNKNOWN };
  const isOfThisPod = measured.at - measured.window >= startedAt - ROUNDING;
  const known = (value: number): number => (isOfThisPod && value >= 0 ? value : UNKNOWN);
  return { cpu: known(measured.cpu), memory: known(measured.memory) };
}
