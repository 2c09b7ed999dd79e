/** Milliseconds on a clock that all processes of one machine share, so that moments of two of them can be compared. */
export function now(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
