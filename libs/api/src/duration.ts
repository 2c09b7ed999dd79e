/** Milliseconds in a unit, and the unit's names. */
const UNITS: readonly (readonly [milliseconds: number, ...names: string[]])[] = [
  [1e-6, "ns", "nano", "nanos", "nanosecond", "nanoseconds"],
  [1e-3, "us", "µs", "μs", "micro", "micros", "microsecond", "microseconds"],
  [1, "ms", "milli", "millis", "millisecond", "milliseconds"],
  [1_000, "s", "sec", "secs", "second", "seconds"],
  [60_000, "m", "min", "mins", "minute", "minutes"],
  [3_600_000, "h", "hr", "hour", "hours"],
  [86_400_000, "d", "day", "days"],
  [604_800_000, "w", "wk", "week", "weeks"],
];

/** Go's time.ParseDuration: a sign, then numbers with a unit of at most an hour, without spaces; or a bare zero. */
const GO = /^[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** The longer form the API server takes as well: whole numbers with a unit, spaces allowed, `2 days 4h`. */
const SPELLED = /^\s*(?:\d+\s*[A-Za-zµ]+\s*)+$/;

const PART = /(\d+\.?\d*|\.\d+)\s*([A-Za-zµμ]+)/g;

/**
 * Reads a duration as the originals' manifests write it: `1m`, `1h30m`, `-0.5s`, `2 days`. The answer is in
 * milliseconds; undefined means the text is no duration, or names a unit that no API server knows. What this reads,
 * every API server accepts in a field of `format: duration`; the reverse does not hold, since old servers also let
 * `about 5m` pass.
 */
export function durationMilliseconds(text: string): number | undefined {
  if (!GO.test(text) && !SPELLED.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) {
    const known = UNITS.find(([, ...names]) => names.includes(unit?.toLowerCase() ?? ""));
    if (known === undefined) return undefined;
    total += Number(amount) * known[0];
  }
  return text.startsWith("-") ? -total : total;
}
