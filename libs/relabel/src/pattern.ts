import { RE2JS } from "re2js";

import { expand, parseTemplate, type Template } from "./template.ts";

/** The whole match at 0, then the groups; undefined for a group that took no part. */
export type Groups = readonly (string | undefined)[];

/** A compiled regular expression of a rule. Each method takes time linear in the length of `value`. */
export interface Pattern {
  matches(value: string): boolean;
  groups(value: string): Groups | undefined;
  template(text: string): Template;
  /** `value` with each match replaced by the template. */
  replaceAll(value: string, template: Template): string;
}

/**
 * Compiles a rule's `regex` as Prometheus does, anchored at both ends and with a dot that matches newlines. Throws what
 * RE2 has to say about one that it refuses.
 */
export function compilePattern(source: string): Pattern {
  const compiled = RE2JS.compile(`^(?s:${source})$`);
  const names = { count: compiled.groupCount(), numbers: new Map(Object.entries(compiled.namedGroups())) };
  return {
    matches: (value) => compiled.test(value),
    groups: (value) => (compiled.exec(value) as Groups | null) ?? undefined,
    template: (text) => parseTemplate(text, names),
    replaceAll: (value, template) =>
      compiled.matcher(value).replaceAll((...groups: string[]) => expand(template, groups)),
  };
}
