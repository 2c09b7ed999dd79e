const units = [
  { name: "y", milliseconds: 31_536_000_000n, whole: true },
  { name: "w", milliseconds: 604_800_000n, whole: true },
  { name: "d", milliseconds: 86_400_000n, whole: false },
  { name: "h", milliseconds: 3_600_000n, whole: false },
  { name: "m", milliseconds: 60_000n, whole: false },
  { name: "s", milliseconds: 1000n, whole: false },
  { name: "ms", milliseconds: 1n, whole: false },
];

const nanoseconds = 1_000_000n;
/** Go's durations are signed 64-bit numbers of nanoseconds. */
const beyondRange = 1n << 63n;

/** Milliseconds of a Prometheus duration such as `1m30s`; undefined if it is none. Units go from large to small. */
export function parseDuration(text: string): bigint | undefined {
  if (text === "0") return 0n;
  if (!/^(?:0*\d{1,20}[a-z]{1,2})+$/.test(text)) return undefined;
  let sum = 0n;
  let last = -1;
  for (const [, digits = "", name] of text.matchAll(/(\d+)([a-z]+)/g)) {
    const at = units.findIndex((unit) => unit.name === name);
    const unit = units[at];
    if (unit === undefined || at <= last) return undefined;
    last = at;
    const count = BigInt(digits);
    const size = unit.milliseconds * nanoseconds;
    if (count > beyondRange / size) return undefined;
    sum += count * size;
    if (sum >= beyondRange) return undefined;
  }
  return sum / nanoseconds;
}

/** The same as a number: what the schedule of a scrape needs. */
export function prometheusMilliseconds(text: string): number | undefined {
  const milliseconds = parseDuration(text);
  return milliseconds === undefined ? undefined : Number(milliseconds);
}

/** The one way in which Prometheus writes a duration: `60s` is `1m`. Years and weeks appear only if nothing remains. */
export function formatDuration(milliseconds: bigint): string {
  if (milliseconds === 0n) return "0s";
  let rest = milliseconds;
  let text = "";
  for (const unit of units) {
    if (unit.whole && rest % unit.milliseconds !== 0n) continue;
    const count = rest / unit.milliseconds;
    if (count === 0n) continue;
    text += `${count}${unit.name}`;
    rest -= count * unit.milliseconds;
  }
  return text;
}
