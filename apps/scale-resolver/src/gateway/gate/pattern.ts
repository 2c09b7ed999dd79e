import { RE2JS, RE2JSException } from "re2js";

/** Longer patterns are refused, and longer values match none: a search takes time in proportion to both. */
export const LONGEST_PATTERN = 256;
/** Instructions: a short pattern with a repetition may have many. With these the slowest search takes about 10 ms. */
export const LARGEST_PROGRAM = 200;
export const LONGEST_VALUE = 512;

/** A pattern that is searched for anywhere in a value, in bounded time; or why it is refused. */
export type Pattern = { readonly test: (value: string) => boolean } | { readonly fault: string };

/** Compiles a regular expression as Go does: RE2 never backtracks, and its program is small, so that no pattern of a user keeps the event loop busy. */
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
