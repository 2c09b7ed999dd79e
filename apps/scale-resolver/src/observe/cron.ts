import { CronPattern } from "croner";

/** Why a cron expression is invalid. The message completes a sentence. */
export class CronFault extends Error {}

/** The fields, and the number of values of each. */
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

/** Maximum length: all sixty minutes in a list need 170 characters. */
const LONGEST = 512;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A part of a field for KubeElasti's parser, which does not support `L`, `W`, `#` or a step of 0. */
const PART = /^(?:[*?]|(?:\d+|[a-z]{3})(?:-(?:\d+|[a-z]{3}))?)(?:\/0*[1-9]\d*)?$/i;

/** The minutes of a cron expression with five fields, on a calendar without time zones: its clock is UTC. */
export class CronSchedule {
  /** A time zone before the expression, as in `CRON_TZ=Asia/Tokyo 0 9 * * *`. */
  readonly timeZone: string | undefined;
  /** Croner only parses the expression: its search overflows the stack for days that do not exist, such as 31 April. */
  readonly #pattern: CronPattern;

  /**
   * Parses what KubeElasti's parser (https://github.com/robfig/cron) accepts, and 7 for Sunday.
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
    this.#pattern = parse(fieldsOf(MACROS[expression] ?? expression).join(" "));
  }

  /** Whether it matches a minute of every hour. */
  get isHourly(): boolean {
    return this.#pattern.hour.every(Boolean);
  }

  /** Whether a minute after `from` and not after `to` matches. */
  fallsBetween(from: number, to: number): boolean {
    for (let day = Math.floor(from / DAY) * DAY; day <= to; day += DAY) {
      if (this.#hasDay(new Date(day)) && this.#hasTime(from - day, to - day)) return true;
    }
    return false;
  }

  /** Day of month or day of week must match. If one of them is `*`, only the other counts. */
  #hasDay(date: Date): boolean {
    const { month, day, dayOfWeek, starDOM, starDOW } = this.#pattern;
    if (!month[date.getUTCMonth()]) return false;
    const [ofMonth, ofWeek] = [Boolean(day[date.getUTCDate() - 1]), Boolean(dayOfWeek[date.getUTCDay()])];
    return starDOM || starDOW ? ofMonth && ofWeek : ofMonth || ofWeek;
  }

  /** Whether a minute after `from` and not after `to` matches, in milliseconds since midnight. */
  #hasTime(from: number, to: number): boolean {
    const { hour, minute } = this.#pattern;
    for (let time = Math.max(0, Math.floor(from / MINUTE) + 1) * MINUTE; time <= to && time < DAY;) {
      if (!hour[Math.floor(time / HOUR)]) time = (Math.floor(time / HOUR) + 1) * HOUR;
      else if (!minute[(time % HOUR) / MINUTE]) time += MINUTE;
      else return true;
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
    const read = parts
      .map((part) => (name === "day of week" ? withSunday(part) : part))
      .map((part) => asCroner(part, size));
    if (!parts.every((part) => PART.test(part)) || !isField(read.join(","), index)) {
      throw new CronFault(`its ${name} is ${shown(text)}`);
    }
    // A `*` in a list matches every value, as in KubeElasti.
    return read.includes("*") ? "*" : read.join(",");
  });
}

/** `SUN` is 0, so a range cannot end with it: Friday to Sunday is 5-7. A step that starts at 7 matches only Sunday. */
function withSunday(part: string): string {
  return part.replace(/\bSUN\b/gi, "0").replace(/^(0*7)\/\d+$/, "$1");
}

/** `?` means `*`, a step of 1 is removed, and a step beyond the last value matches only the first. */
function asCroner(part: string, size: number): string {
  return part
    .replace("?", "*")
    .replace(/^\*\/0*1$/, "*")
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

function parse(expression: string): CronPattern {
  return new CronPattern(expression, undefined, { mode: "5-part", sloppyRanges: true });
}

function shown(text: string): string {
  return JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 39)}…`);
}
