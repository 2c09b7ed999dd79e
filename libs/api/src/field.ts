import { z } from "zod";
import { durationMilliseconds } from "./duration.ts";
import { matching } from "./rule.ts";

/**
 * Any safe integer. Where the originals say `format: int64`, larger values pass the API server and fail here, unread.
 */
export const integer = () => z.int();

export const int64 = () => z.int().meta({ format: "int64" });

/** API servers older than 1.36 do not enforce the range of `format: int32`; this does. */
export const int32 = () => z.int32().meta({ format: "int32" });

export const double = () => z.number().meta({ format: "double" });

/** At most `maxLength` characters. Counted in code points, as the API server does. */
export const boundedText = (maxLength: number) =>
  z
    .string()
    .refine((text) => text.length <= maxLength || Array.from(text).length <= maxLength, {
      error: `Too long: expected at most ${maxLength} characters`,
    })
    .meta({ maxLength });

/** A duration such as `15m`; see durationMilliseconds for the forms. */
export const duration = () =>
  z
    .string()
    .refine((text) => durationMilliseconds(text) !== undefined, {
      error: "Invalid duration: expected a form such as 30s, 15m or 1h30m",
    })
    .meta({ format: "duration" });

/** Go's form of a duration, without a minus: numbers with a unit of at most an hour, and no spaces. */
const GO_DURATION = /^[+]?(0|(([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$/;

/** A length of time as Go writes it, such as `90s` or `1h30m`; `0s` is one. */
export const timeSpan = () =>
  matching(boundedText(64), "expected a duration that is not negative, such as 30s, 15m or 1h30m", GO_DURATION);

/** A length of time above 0, in the same form. */
export const period = () =>
  matching(boundedText(64), "expected a duration above 0, such as 30s, 15m or 1h30m", GO_DURATION, /[1-9]/);

const CLOCK = /^([01]?[0-9]|2[0-3]):[0-5]?[0-9]$/;
const CLOCK_TO_MIDNIGHT = /^(([01]?[0-9]|2[0-3]):[0-5]?[0-9]|24:00?)$/;

/**
 * A minute of the day, from 00:00 to 23:59, or to 24:00 where that is asked for. A leading zero may be left out, `9:5`
 * being 09:05 as the original reads it.
 */
export const timeOfDay = ({ midnight }: { readonly midnight?: "24:00" } = {}) =>
  midnight === undefined
    ? matching(boundedText(16), "expected a time of day from 00:00 to 23:59, such as 22:00", CLOCK)
    : matching(boundedText(16), "expected a time of day from 00:00 to 24:00, such as 22:00", CLOCK_TO_MIDNIGHT);

/** Said by the service alone. */
export const UNKNOWN_TIME_ZONE = "Unknown time zone: expected a name such as Asia/Tokyo";

/** A name of the tz database. Only the service knows which there are: the API server takes any short text. */
export const timeZone = () =>
  boundedText(64)
    .min(1)
    .refine(isTimeZone, { error: UNKNOWN_TIME_ZONE, when: ({ issues }) => issues.length === 0 });

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** Where an HTTP server is: a URL with scheme and host. */
export const address = () =>
  matching(
    boundedText(2048),
    "expected a URL with scheme and host, such as http://prometheus:9090",
    /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^/?# ]/,
  );

const RFC3339 = /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;

/** An instant in RFC 3339, to the second or finer. */
export const timestamp = () =>
  z
    .string()
    .refine(isInstant, { error: "Invalid timestamp: expected a form such as 2026-11-01T00:00:00Z" })
    .meta({ format: "date-time" });

function isInstant(text: string): boolean {
  const date = RFC3339.exec(text)?.[1];
  if (date === undefined) return false;
  const midnight = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}

/**
 * Text by name. zod would drop a key `__proto__` without a word, and a selector that loses a key matches more than its
 * author said, so that key is refused.
 */
export const stringMap = () =>
  z.preprocess(
    (input, context) => {
      if (Object.hasOwn(Object(input) as object, "__proto__")) {
        context.addIssue({ code: "custom", path: ["__proto__"], message: "Invalid key: expected any but __proto__" });
      }
      return input;
    },
    z.record(z.string(), z.string()),
  );

/** Any JSON at all, kept as it came. */
export const freeForm = () => z.unknown().meta({ "x-kubernetes-preserve-unknown-fields": true });
