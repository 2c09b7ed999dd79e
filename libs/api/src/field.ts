import { z } from "zod";
import { durationMilliseconds } from "./duration.ts";

/** Any safe integer. Where the originals say `format: int64`, larger values pass the API server and fail here, unread. */
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

/** A minute of the day, from 00:00 to 23:59. */
export const timeOfDay = () =>
  z.string().regex(/^([01]?[0-9]|2[0-3]):[0-5][0-9]$/, { error: "Invalid time of day: expected HH:MM such as 22:00" });

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
