import { QueryError } from "./query-answer.ts";

/** The most points of a line that one request may ask for. */
const MOST_POINTS = 11_000;

const UNITS: Readonly<Record<string, number>> = {
  ...{ ms: 0.001, s: 1, m: 60, h: 3600 },
  ...{ d: 86_400, w: 604_800, y: 31_536_000 },
};
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** A time in seconds since the epoch, to the millisecond. Without a fallback the parameter must be there. */
export function readTime(parameters: URLSearchParams, name: string, fallback?: number): number {
  const text = parameters.get(name) ?? "";
  if (text === "" && fallback !== undefined) return fallback;
  const seconds = NUMBER.test(text) ? Number(text) : INSTANT.test(text) ? Date.parse(text) / 1000 : NaN;
  if (Number.isFinite(seconds)) return Math.round(seconds * 1000) / 1000;
  const why = `cannot parse "${text}" to a valid timestamp`;
  throw bad(name, fallback === undefined ? why : `Invalid time value for '${name}': ${why}`);
}

/** Refuses a duration that is none; absent is fine. */
export function checkDuration(parameters: URLSearchParams, name: string): void {
  if ((parameters.get(name) ?? "") !== "") readDuration(parameters, name);
}

export function readRange(parameters: URLSearchParams): { start: number; end: number; step: number } {
  const start = readTime(parameters, "start");
  const end = readTime(parameters, "end");
  if (end < start) throw bad("end", "end timestamp must not be before start time");
  const step = readDuration(parameters, "step");
  if (step <= 0)
    throw bad("step", "zero or negative query resolution step widths are not accepted. Try a positive integer");
  if ((end - start) / step > MOST_POINTS) {
    const why = "exceeded maximum resolution of 11,000 points per timeseries.";
    throw new QueryError("bad_data", `${why} Try decreasing the query resolution (?step=XX)`);
  }
  return { start, end, step };
}

/** Seconds, given as a number or such as `1h30m`. */
function readDuration(parameters: URLSearchParams, name: string): number {
  const text = parameters.get(name) ?? "";
  if (NUMBER.test(text)) return Number(text);
  const parts = [...text.matchAll(/(\d+)(ms|[smhdwy])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text)
    throw bad(name, `cannot parse "${text}" to a valid duration`);
  return parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNITS[unit] ?? NaN), 0);
}

function bad(name: string, why: string): QueryError {
  return new QueryError("bad_data", `invalid parameter "${name}": ${why}`);
}
