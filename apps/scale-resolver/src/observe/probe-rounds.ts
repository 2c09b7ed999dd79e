/** One round of probes. */
export interface ProbeRound {
  /** Pods of the Service that are ready: connections go to them as well. */
  readonly ready: number;
  /** Whether a request may be sent on a connection that did not arrive at this replica. A pod may get it. */
  readonly blind: boolean;
}

/** The pause between two rounds grows from one settle time to this many. */
const LONGEST_PAUSE = 8;

/**
 * When the next round of probes is due, the first one after `after`: 1, 2, 4, 8, 16, 24, … settle times after the resolver joined the path. In the first of them nodes are still busy with following
 * the EndpointSlices, and what is asked then is asked in vain. Times are milliseconds.
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
