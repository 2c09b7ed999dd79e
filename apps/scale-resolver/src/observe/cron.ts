import { Cron } from "croner";

/** Why a cron expression cannot be used: the rest of a sentence about it. */
export class CronFault extends Error {}

/** The fields, and how many values each has. */
const FIELDS = [
  { name: "minute", size: 60 },
  { name: "hour", size: 24 },
  { name: "day of month", size: 31 },
  { name: "month", size: 12 },
  { name: "day of week", size: 7 },
] as const;

const MACROS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** Longer expressions are refused: all sixty minutes in a list need 170 characters. */
const LONGEST = 512;
const DAY = 24 * 3_600_000;

/** A part of a field as KubeElasti's parser reads it, which knows no `L`, `W` or `#`. */
const PART = /^(?:[*?]|(?:\d+|[a-z]{3})(?:-(?:\d+|[a-z]{3}))?)(?:\/\d+)?$/i;

/** The minutes that a cron expression of five fields names, on a calendar without time zones: its clock is UTC. */
export class CronSchedule {
  /** A time zone before the expression, as in `CRON_TZ=Asia/Tokyo 0 9 * * *`. */
  readonly timeZone: string | undefined;
  readonly #days: Cron;
  readonly #times: Cron;

  /**
   * Reads what KubeElasti's parser (https://github.com/robfig/cron) reads, and 7 for Sunday besides.
   *
   * @throws CronFault
   */
  constructor(text: string) {
    if (text.length > LONGEST) throw new CronFault(`it is longer than ${LONGEST} characters`);
    const [, timeZone, expression = ""] = /^(?:(?:CRON_)?TZ=(\S+)\s+)?(.*)$/s.exec(text.trim()) ?? [];
    this.timeZone = timeZone;
    if (expression.startsWith("@") && !(expression in MACROS)) {
      throw new CronFault(`${shown(expression)} is none of ${Object.keys(MACROS).join(", ")}`);
    }
    const [minute, hour, ...days] = fieldsOf(MACROS[expression] ?? expression);
    // Days and times apart: if a month lacks the next day of the list, croner skips the beginning of the month after it.
    this.#days = parse(`0 0 ${days.join(" ")}`);
    this.#times = parse(`${minute} ${hour} * * *`);
  }

  /** Whether it names a minute of every hour. */
  get isHourly(): boolean {
    const hours = this.#times.nextRuns(24 * 60, new Date(-1)).filter((time) => time.getTime() < DAY);
    return new Set(hours.map((time) => time.getUTCHours())).size === 24;
  }

  /** Whether there is such a minute after `from`, and not after `to`. */
  fallsBetween(from: number, to: number): boolean {
    for (let day = Math.floor(from / DAY) * DAY; day <= to; day += DAY) {
      if (!this.#days.match(new Date(day))) continue;
      const next = this.#times.nextRun(new Date(Math.max(from, day - 1)))?.getTime() ?? Infinity;
      if (next <= to && next < day + DAY) return true;
    }
    return false;
  }
}

function fieldsOf(expression: string): readonly string[] {
  const texts = expression.split(/\s+/).filter(Boolean);
  if (texts.length !== FIELDS.length) {
    throw new CronFault(`it has ${texts.length} fields; expected ${FIELDS.map(({ name }) => name).join(", ")}`);
  }
  return FIELDS.map(({ name, size }, index) => {
    const text = texts[index] ?? "";
    const parts = text.split(",").filter(Boolean);
    const field = parts.map((part) => asCroner(part, size)).join(",");
    // A range from Friday to Sunday is 5-7; KubeElasti refuses FRI-SUN.
    const isRead = parts.every((part) => PART.test(part)) && !/-SUN\b/i.test(text);
    if (!isRead || !isField(field, index)) throw new CronFault(`its ${name} is ${shown(text)}`);
    return field;
  });
}

/** `?` is `*`, a step of 1 is none, one beyond the last value ends at the first, and one from Sunday as 7 names Sunday alone. */
function asCroner(part: string, size: number): string {
  return part
    .replace("?", "*")
    .replace(/^\*\/0*1$/, "*")
    .replace(/^7\/\d+$/, "7")
    .replace(/(?<=\/)\d+$/, (step) => String(Math.min(Number(step), size)));
}

function isField(field: string, index: number): boolean {
  try {
    parse(FIELDS.map((_, other) => (other === index ? field : "*")).join(" "));
    return true;
  } catch {
    return false;
  }
}

function parse(expression: string): Cron {
  return new Cron(expression, { mode: "5-part", utcOffset: 0, sloppyRanges: true });
}

function shown(text: string): string {
  return JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 39)}…`);
}
