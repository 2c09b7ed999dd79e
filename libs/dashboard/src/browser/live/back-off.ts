/**
 * Milliseconds before the attempt after `failures` in a row: doubling from half a second to half a minute, the later
 * half by chance.
 */
export function backOff(failures: number, random: () => number): number {
  const ceiling = Math.min(30_000, 500 * 2 ** Math.min(failures, 10));
  return ceiling / 2 + (random() * ceiling) / 2;
}
