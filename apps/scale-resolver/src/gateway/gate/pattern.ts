import { RE2JS, RE2JSException } from "re2js";

/** Longer patterns are refused, and longer values do not match: the time of a search is proportional to both. */
export const LONGEST_PATTERN = 256;
/**
 * Maximum instructions, because a short pattern with repetitions may have many. With these the slowest search takes 10
 * ms.
 */
export const LARGEST_PROGRAM = 200;
export const LONGEST_VALUE = 512;

/** A pattern that is searched anywhere in a value in bounded time, or why it is refused. */
export type Pattern = { readonly test: (value: string) => boolean } | { readonly fault: string };

/**
 * Compiles a regular expression with Go's syntax. RE2 does not backtrack and the program size is limited, so that no
 * pattern of a user blocks the event loop.
 */
export function compilePattern(source: string): Pattern {
  if (source.length > LONGEST_PATTERN) return { fault: `it is longer than ${LONGEST_PATTERN} characters` };
  try {
    const pattern = RE2JS.compile(source);
    const size = pattern.programSize();
    if (size > LARGEST_PROGRAM) return { fault: `it compiles to ${size} instructions; at most ${LARGEST_PROGRAM}` };
    return { test: (value) => value.length <= LONGEST_VALUE && pattern.test(value) };
  } catch (error) {
    if (error instanceof RE2JSException) return { fault: error.message.replace("error parsing regexp: ", "") };
    throw error;
  }
}
