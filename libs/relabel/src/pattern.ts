import { RE2JS } from "re2js";

import { memo } from "./memo.ts";
import { plainPattern } from "./plain-pattern.ts";
import { expand, parseTemplate, type Template } from "./template.ts";

/** The whole match at 0, then the groups; undefined for a group that took no part. */
export type Groups = readonly (string | undefined)[];

/** A compiled regular expression of a rule. Each method takes time linear in the length of `value`. */
export interface Pattern {
  /** Undefined if `value` does not match. */
  groups(value: string): Groups | undefined;
  template(text: string): Template;
  /** `value` with each match replaced by the template; undefined if there is none. */
  replaceAll(value: string, template: Template): string | undefined;
}

/** How many values an expression remembers. Values that many targets share (a namespace, a phase) are few. */
const remembered = 1000;

/**
 * Compiles a rule's `regex` as Prometheus does, anchored at both ends and with a dot that matches newlines. Throws what
 * RE2 has to say about one that it refuses.
 */
export function compilePattern(source: string): Pattern {
  const plain = plainPattern(source);
  if (plain === undefined) return re2Pattern(source);
  const { groupCount, groups } = plain;
  return {
    groups,
    template: (text) => parseTemplate(text, { count: groupCount, numbers: new Map() }),
    replaceAll(value, template) {
      const found = groups(value);
      return found && expand(template, found);
    },
  };
}

/** A pattern by RE2. It is some fifty times slower than a plain one, so that it remembers values. */
export function re2Pattern(source: string): Pattern {
  const compiled = RE2JS.compile(`^(?s:${source})$`);
  const names = { count: compiled.groupCount(), numbers: new Map(Object.entries(compiled.namedGroups())) };
  const groups = memo(remembered, (value) => compiled.exec(value) as Groups | null);
  return {
    groups: (value) => groups(value) ?? undefined,
    template: (text) => parseTemplate(text, names),
    replaceAll(value, template) {
      if (groups(value) === null) return undefined;
      return compiled.matcher(value).replaceAll((...found: string[]) => expand(template, found));
    },
  };
}
