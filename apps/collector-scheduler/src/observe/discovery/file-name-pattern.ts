type Matcher = (character: string) => boolean;

/**
 * Go's filepath.Match for one element of a path: `*`, `?`, `[a-z]`, `[^a]` and `\` before a character that counts as
 * itself. A pattern that Go refuses matches nothing. It takes time that grows at most with the product of both lengths.
 */
export function fileNamePattern(pattern: string): (name: string) => boolean {
  const parts = pattern.match(/\\.|\[\^?(?:\\.|[^\]\\])+\]|[^\\[]/gsu) ?? [];
  if (parts.join("") !== pattern) return () => false;
  try {
    const matchers = parts.map((part) => (part === "*" ? "*" : matcherOf(part)));
    return (name) => isMatch(matchers, Array.from(name));
  } catch {
    return () => false; // such as a range that goes backwards
  }
}

/**
 * After a character that does not fit, the last `*` takes one more. Earlier ones never need to: they took the least.
 */
function isMatch(matchers: readonly (Matcher | "*")[], name: readonly string[]): boolean {
  let [part, at] = [0, 0];
  let star: { readonly part: number; readonly at: number } | undefined;
  while (at < name.length) {
    const matcher = matchers[part];
    if (matcher === "*") {
      star = { part, at };
      part += 1;
    } else if (matcher?.(name[at] as string) === true) {
      part += 1;
      at += 1;
    } else if (star) {
      star = { part: star.part, at: star.at + 1 };
      [part, at] = [star.part + 1, star.at];
    } else return false;
  }
  return matchers.slice(part).every((matcher) => matcher === "*");
}

function matcherOf(part: string): Matcher {
  if (part === "?") return () => true;
  if (part.startsWith("[")) {
    const expression = new RegExp(`^${classOf(part)}$`, "su");
    return (character) => expression.test(character);
  }
  const literal = part.replace(/^\\/, "");
  return (character) => character === literal;
}

function classOf(part: string): string {
  const isNegated = part.startsWith("[^");
  const inner = part.slice(isNegated ? 2 : 1, -1);
  const members = inner.replaceAll(/\\(.)|([\][^&])/gsu, (_all, escaped: string | undefined, special: string) =>
    escaped === undefined ? `\\${special}` : escaped === "-" ? "\\-" : literalOf(escaped),
  );
  return `[${isNegated ? "^" : ""}${members}]`;
}

function literalOf(text: string): string {
  return text.replaceAll(/[\^$\\.*+?()[\]{}|/]/g, String.raw`\$&`);
}
