/** The level of a tank that the sea fills and empties: it swings by 25 around 50 once a minute. `seconds` since the start. */
export function tideLevel(seconds: number): number {
  return Math.round(50 + 25 * Math.sin((seconds / 60) * 2 * Math.PI));
}
