const UNITS = { y: 31_536_000_000, w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;

const DURATION = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/** Milliseconds of a duration as Prometheus writes it, such as `1m30s`; undefined if it is none. */
export function prometheusMilliseconds(text: string): number | undefined {
  if (text === "0") return 0;
  const found = text === "" ? null : DURATION.exec(text);
  if (found === null) return undefined;
  return Object.values(UNITS).reduce((sum, unit, index) => sum + unit * Number(found[index + 1] ?? 0), 0);
}
