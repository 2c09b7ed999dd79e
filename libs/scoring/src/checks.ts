import { BadNumber } from "./errors.ts";

// Each check throws EK_SCORING_BAD_NUMBER unless `value` is what its name says. `what` names the value in the message,
// followed by the `name` of its owner where there are several.

export function checkFinite(value: number, what: string): void {
  if (!Number.isFinite(value)) throw badNumber(value, what, "a finite number");
}

export function checkNotNegative(value: number, what: string, name?: string): void {
  if (!(Number.isFinite(value) && value >= 0)) throw badNumber(value, what, "a finite number of at least 0", name);
}

/** A count is a whole number that a double holds exactly. */
export function checkCount(value: number, what: string, name?: string): void {
  if (!(Number.isSafeInteger(value) && value >= 0)) throw badNumber(value, what, "a whole number of at least 0", name);
}

/** Beyond it, adding a millisecond to a double may be lost. */
const LAST_TIME = 2 ** 52;

/** A time is in milliseconds, of the wall clock or a monotonic one. */
export function checkTime(value: number, what: string): void {
  if (!(Number.isFinite(value) && Math.abs(value) <= LAST_TIME)) throw badNumber(value, what, "a time in milliseconds");
}

/** The error for a value that breaks `rule`; what is shown of the value is cut, since it may come from anywhere. */
export function badNumber(value: unknown, what: string, rule: string, name?: string): Error {
  const shown = typeof value === "string" ? JSON.stringify(value) : String(value);
  return new BadNumber({
    what: name === undefined ? what : `${what} ${JSON.stringify(name)}`,
    rule,
    value: shown.length > 60 ? `${shown.slice(0, 60)}…` : shown,
  });
}
