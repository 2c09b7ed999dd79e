/** The level of a tank that the sea fills and empties: it swings by 25 around 50 once a minute. `seconds` since the start. */
export function tideLevel(seconds: number): number {
  return Math.round(50 + 25 * Math.sin((seconds / 60) * 2 * Math.PI));
}

/** Replicas that follow the same tide, each Deployment a little later than the one before; never fewer than one. */
export function replicasAt(seconds: number, index: number, usual: number): number {
  return Math.max(1, Math.round(usual * (1 + 0.5 * Math.sin((seconds / 60) * 2 * Math.PI - index))));
}
