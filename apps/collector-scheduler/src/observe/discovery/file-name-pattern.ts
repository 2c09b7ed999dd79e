/**
 * Go's filepath.Match for one element of a path: `*`, `?`, `[a-z]`, `[^a]` and `\` before a character that counts as
 * itself. A pattern that Go refuses matches nothing.
 */
export function fileNamePattern(pattern: string): (name: string) => boolean {
  const parts = pattern.match(/\\.|\[\^?(?:\\.|[^\]\\])+\]|[^\\[]/gsu) ?? [];
  if (parts.join("") !== pattern) return () => false;
  const source = parts.map((part) => {
    if (part === "*") return ".*";
    if (part === "?") return ".";
    if (part.startsWith("[")) return classOf(part);
    return literal(part.replace(/^\\/, ""));
  });
  try {
    const expression = new RegExp(`^${source.join("")}$`, "su");
    return (name) => expression.test(name);
  } catch {
    return () => false; // such as a range that goes backwards
  }
}

function classOf(part: string): string {
  const isNegated = part.startsWith("[^");
  const inner = part.slice(isNegated ? 2 : 1, -1);
  const members = inner.replaceAll(/\\(.)|([\][^&])/gsu, (_all, escaped: string | undefined, special: string) =>
    escaped === undefined ? `\\${special}` : escaped === "-" ? "\\-" : literal(escaped),
  );
  return `[${isNegated ? "^" : ""}${members}]`;
}

function literal(text: string): string {
  return text.replaceAll(/[\^$\\.*+?()[\]{}|/]/g, String.raw`\$&`);
}
