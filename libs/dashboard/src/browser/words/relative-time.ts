const units = [
  ["day", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

/** `12 s ago`, `3 min ago`, `in 5 s`, `now`: the largest unit that fits, rounded down. Both in milliseconds. */
export function relativeTime(at: number, now: number): string {
  const seconds = Math.floor(Math.abs(now - at) / 1000);
  if (!Number.isFinite(seconds)) return "unknown";
  const found = units.find(([, size]) => seconds >= size);
  if (!found) return "now";
  const [unit, size] = found;
  const amount = Math.floor(seconds / size);
  const text = `${amount} ${unit === "day" && amount > 1 ? "days" : unit}`;
  return now >= at ? `${text} ago` : `in ${text}`;
}

/** `2 h 5 min`: the two largest units of a span in milliseconds. */
export function spanText(milliseconds: number): string {
  let rest = Math.max(0, Math.floor(milliseconds / 1000));
  const parts: string[] = [];
  for (const [unit, size] of units) {
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0) parts.push(`${amount} ${unit === "day" && amount > 1 ? "days" : unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ") || "0 s";
}

/** Date and time to the second in the reader's zone, with the zone. */
export function exactTime(at: number): string {
  if (!Number.isFinite(at)) return "unknown";
  return new Date(at).toLocaleString(undefined, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    hourCycle: "h23",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  });
}
