/** Longer patterns are refused, and longer values match none. */
export const LONGEST_PATTERN = 256;
export const LONGEST_VALUE = 256;
/** Steps of the engine that a match may take at worst, as a power of two: some milliseconds. */
const MOST_STEPS = 22;

/** A pattern that matches whole values in bounded time, or why it is refused. */
export type Pattern = { readonly test: (value: string) => boolean } | { readonly fault: string };

/**
 * Compiles a pattern that somebody else wrote. JavaScript's engine goes back over every choice, so that a few characters can keep it
 * busy for years. The guard is an estimate and errs on the side of refusal: choices inside of repetitions, back references and
 * looking around are refused; what is left takes at worst 2 steps for each choice and as many for each repetition as the value
 * is long, multiplied, and must stay below a bound.
 */
export function compilePattern(source: string): Pattern {
  if (source.length > LONGEST_PATTERN) return { fault: `it is longer than ${LONGEST_PATTERN} characters` };
  const fault = faultOf(source);
  if (fault !== undefined) return { fault };
  try {
    const expression = new RegExp(`^(?:${source})$`, "u");
    return { test: (value) => value.length <= LONGEST_VALUE && expression.test(value) };
  } catch {
    return { fault: "it is not well formed" };
  }
}

interface Group {
  /** Whether there is more than one way to match what is inside. */
  choices: boolean;
}

function faultOf(source: string): string | undefined {
  const groups: Group[] = [{ choices: false }];
  let steps = 0;
  /** Whether what stands before the next quantifier has choices inside. */
  let inner = false;
  let at = 0;
  while (at < source.length) {
    const group = groups.at(-1) as Group;
    const rest = source.slice(at);
    const quantifier = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(rest);
    if (quantifier && at > 0) {
      const [text, fewest, comma, most] = quantifier;
      const optional = text.startsWith("?");
      if (!optional && inner) return "it repeats a group that has choices or repetitions inside";
      if (fewest === undefined || comma === ",") {
        group.choices = true;
        steps += optional ? 1 : 8;
      }
      if (Number(fewest ?? 0) > 1000 || Number(most ?? 0) > 1000) return "it repeats something more than 1000 times";
      inner = false;
      at += text.length;
      continue;
    }
    inner = false;
    if (/^\\(?:[1-9]|k)/.test(rest)) return "it has a back reference";
    if (rest.startsWith("(")) {
      if (/^\(\?(?!:)/.test(rest)) return "it looks around, names a group or sets flags";
      groups.push({ choices: false });
      at += rest.startsWith("(?:") ? 3 : 1;
    } else if (rest.startsWith(")")) {
      if (groups.length === 1) return "it is not well formed";
      groups.pop();
      inner = group.choices;
      if (inner) (groups.at(-1) as Group).choices = true;
      at += 1;
    } else if (rest.startsWith("|")) {
      group.choices = true;
      steps += 1;
      at += 1;
    } else at += (/^(?:\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\.|\[(?:[^\]\\]|\\.)*\]|[^])/u.exec(rest)?.[0] ?? " ").length;
  }
  return steps > MOST_STEPS ? "it has too many choices and repetitions" : undefined;
}
