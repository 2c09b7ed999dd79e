/** What a cron expression of five fields says: which minutes of which days. */
export interface CronSchedule {
  /** Minutes of the hour, ascending, as are hours. */
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** Whether something begins on a day of the calendar. */
  readonly hasDay: (day: CalendarDay) => boolean;
  /** A time zone that the expression begins with, as `CRON_TZ=Asia/Tokyo`. */
  readonly timeZone: string | undefined;
}

export interface CalendarDay {
  /** From 1. */
  readonly month: number;
  readonly dayOfMonth: number;
  /** From 0, which is Sunday. */
  readonly dayOfWeek: number;
}

interface FieldRule {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** One more number that may be written, for `min`. */
  readonly alias?: number;
  /** Of `min` and those that follow. */
  readonly names?: readonly string[];
}

interface Field {
  readonly values: ReadonlySet<number>;
  /** It leaves the choice to the other fields. */
  readonly isStar: boolean;
}

const MINUTE: FieldRule = { name: "minute", min: 0, max: 59 };
const HOUR: FieldRule = { name: "hour", min: 0, max: 23 };
const DAY_OF_MONTH: FieldRule = { name: "day of month", min: 1, max: 31 };
const MONTH: FieldRule = {
  ...{ name: "month", min: 1, max: 12 },
  names: ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"],
};
const DAY_OF_WEEK: FieldRule = {
  ...{ name: "day of week", min: 0, max: 6, alias: 7 },
  names: ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"],
};

const MACROS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** Characters of an expression: all sixty minutes in a list, and more. */
const LONGEST = 512;

/** Reads an expression as the original's parser does, and besides 7 for Sunday and names such as `@daily`. Throws CronFault. */
export function parseCron(text: string): CronSchedule {
  if (text.length > LONGEST) throw new CronFault(`it is longer than ${LONGEST} characters`);
  const [, timeZone, expression = ""] = /^(?:(?:CRON_)?TZ=(\S+)\s+)?(.*)$/s.exec(text.trim()) ?? [];
  const fields = expandMacro(expression).split(/\s+/).filter(Boolean);
  if (fields.length !== 5)
    throw new CronFault(`it has ${fields.length} fields, not minute, hour, day, month and weekday`);
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = fields;
  const minutes = parseField(minute, MINUTE);
  const hours = parseField(hour, HOUR);
  const days = parseField(dayOfMonth, DAY_OF_MONTH);
  const months = parseField(month, MONTH);
  const weekdays = parseField(dayOfWeek, DAY_OF_WEEK);
  // Two fields that both choose days choose the days of either.
  const isEither = !days.isStar && !weekdays.isStar;
  return {
    minutes: ascending(minutes),
    hours: ascending(hours),
    hasDay: (day) => {
      if (!months.values.has(day.month)) return false;
      const [byDate, byWeekday] = [days.values.has(day.dayOfMonth), weekdays.values.has(day.dayOfWeek)];
      return isEither ? byDate || byWeekday : byDate && byWeekday;
    },
    timeZone,
  };
}

/** What is wrong with an expression. */
export class CronFault extends Error {}

function expandMacro(expression: string): string {
  if (!expression.startsWith("@")) return expression;
  if (/^@every\b/.test(expression)) throw new CronFault("@every has no time at which it begins");
  const macro = MACROS[expression];
  if (macro === undefined)
    throw new CronFault(`there is no ${shown(expression)}; there are ${Object.keys(MACROS).join(", ")}`);
  return macro;
}

function parseField(text: string, rule: FieldRule): Field {
  const parts = text
    .split(",")
    .filter(Boolean)
    .map((part) => parsePart(part, rule));
  if (parts.length === 0) throw new CronFault(`its ${rule.name} is ${shown(text)}`);
  return { values: new Set(parts.flatMap(({ values }) => values)), isStar: parts.some(({ isStar }) => isStar) };
}

/** `*`, `5`, `1-5`, or one of them with a step: from `5/10`, the step goes on to the highest. */
function parsePart(text: string, rule: FieldRule): { readonly values: readonly number[]; readonly isStar: boolean } {
  const [, every, low, high, stepText] = /^(?:([*?])|(\w+)(?:-(\w+))?)(?:\/(\d{1,4}))?$/.exec(text) ?? [];
  const fault = () => new CronFault(`its ${rule.name} has ${shown(text)}, which is no ${rule.name} or range of them`);
  const step = Number(stepText ?? 1);
  const first = every === undefined ? numberOf(low, rule) : rule.min;
  if (first === undefined || step === 0) throw fault();
  const isOpenEnded = every !== undefined || (high === undefined && stepText !== undefined);
  const last = isOpenEnded ? Math.max(first, rule.max) : numberOf(high ?? low, rule);
  if (last === undefined || first > last) throw fault();
  const values: number[] = [];
  for (let value = first; value <= last; value += step) values.push(value === rule.alias ? rule.min : value);
  return { values, isStar: every !== undefined && step === 1 };
}

function numberOf(text: string | undefined, { min, max, alias, names }: FieldRule): number | undefined {
  if (text === undefined) return undefined;
  const named = names?.indexOf(text.toUpperCase()) ?? -1;
  if (named >= 0) return min + named;
  const number = /^\d{1,4}$/.test(text) ? Number(text) : NaN;
  return number >= min && number <= (alias ?? max) ? number : undefined;
}

function ascending({ values }: Field): readonly number[] {
  return [...values].toSorted((a, b) => a - b);
}

function shown(text: string): string {
  return JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 39)}…`);
}
