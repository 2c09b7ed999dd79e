import { valueWords } from "@evenkeel/runtime/value-words";

/** A duration for a column: `45s`, `12m`, `3h`, `5d`; with two units if the second matters. */
export function spanText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
  if (minutes < 120) return `${minutes}m`;
  if (hours < 10) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  return `${Math.floor(hours / 24)}d`;
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

/** How long ago a time of a service is; empty if it is invalid. A time in the future is `0s`. */
export function ageText(at: string | undefined, now: number): string {
  const time = Date.parse(at ?? "");
  return Number.isNaN(time) ? "" : spanText(now - time);
}

/** The value of a decision in a cell or a sentence; empty if it is unknown. */
export function valueText(value: unknown): string {
  return value === null || value === undefined ? "" : valueWords(value);
}

/** A sentence with its full stop, which messages of services omit. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) || text === "" ? text : `${text}.`;
}
