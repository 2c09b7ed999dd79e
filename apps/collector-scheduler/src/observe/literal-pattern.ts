/** Texts that one pattern may stand for; beyond it a pattern is not worth an index. */
const MOST = 200;

/**
 * All texts that a regular expression matches as a whole, if it consists of literals, alternatives and groups alone:
 * `(web|api);true` is `web;true` and `api;true`. Undefined for any other expression.
 */
export function literalValues(pattern: string): ReadonlySet<string> | undefined {
  const reader = { pattern, at: 0 };
  const values = alternatives(reader);
  return values && reader.at === pattern.length ? new Set(values) : undefined;
}

interface Reader {
  readonly pattern: string;
  at: number;
}

function alternatives(reader: Reader): readonly string[] | undefined {
  const all: string[] = [];
  for (;;) {
    const values = sequence(reader);
    if (!values) return undefined;
    all.push(...values);
    if (all.length > MOST) return undefined;
    if (reader.pattern[reader.at] !== "|") return all;
    reader.at += 1;
  }
}

function sequence(reader: Reader): readonly string[] | undefined {
  let values: readonly string[] = [""];
  for (;;) {
    const next = reader.pattern[reader.at];
    if (next === undefined || next === "|" || next === ")") return values;
    const parts = next === "(" ? group(reader) : literal(reader);
    if (!parts || values.length * parts.length > MOST) return undefined;
    values = values.flatMap((start) => parts.map((end) => start + end));
  }
}

function group(reader: Reader): readonly string[] | undefined {
  reader.at += reader.pattern.startsWith("(?:", reader.at) ? 3 : 1;
  const values = alternatives(reader);
  if (reader.pattern[reader.at] !== ")") return undefined;
  reader.at += 1;
  return isRepeated(reader) ? undefined : values;
}

function literal(reader: Reader): readonly string[] | undefined {
  const [found = ""] =
    /^(?:\\[^\p{L}\p{N}]|[^\\.+*?()|[\]{}^$])/su.exec(reader.pattern.slice(reader.at, reader.at + 3)) ?? [];
  if (found === "") return undefined;
  reader.at += found.length;
  return isRepeated(reader) ? undefined : [found.startsWith("\\") ? found.slice(1) : found];
}

function isRepeated({ pattern, at }: Reader): boolean {
  return "?*+{".includes(pattern[at] ?? " ");
}
