/** One round of probes. */
export interface ProbeRound {
  /** Number of ready pods of the Service, which also receive connections. */
  readonly ready: number;
  /** Whether to send a request on a connection that did not arrive at this replica. A pod may receive it. */
  readonly blind: boolean;
}

/** Maximum pause between two rounds, in settle times. */
const LONGEST_PAUSE = 8;

/**
 * When the next round of probes after `after` is due: 1, 2, 4, 8, 16, 24, … settle times after the resolver joined the
 * path. During the first settle time nodes still follow the EndpointSlices, so a probe would fail. Times are in
 * milliseconds.
 */
export function nextProbeAt(joined: number, settle: number, after: number): number {
  if (settle <= 0) return after;
  const passed = Math.floor((after - joined) / settle);
  const isLate = passed >= LONGEST_PAUSE;
  const next = isLate
    ? (Math.floor(passed / LONGEST_PAUSE) + 1) * LONGEST_PAUSE
    : 2 ** Math.floor(Math.log2(passed) + 1);
  return joined + (passed < 1 ? 1 : next) * settle;
}
