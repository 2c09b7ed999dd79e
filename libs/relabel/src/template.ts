import { checkLength } from "./label-length.ts";

/** A replacement such as `$1:${port}`, taken apart: text as it is, and numbers of groups. */
export type Template = readonly (string | number)[];

/** The groups of a regular expression that a template may refer to. */
export interface GroupNames {
  readonly count: number;
  readonly numbers: ReadonlyMap<string, number>;
}

const reference = /\$(?:(\$)|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu;

/**
 * Reads a template as Go's regexp package does. A name without braces is as long as it can be: `$1x` is the group named
 * `1x`. A `$` that begins no reference is text. A reference to a group that does not exist is empty.
 */
export function parseTemplate(text: string, groups: GroupNames): Template {
  const parts: (string | number)[] = [];
  let end = 0;
  for (const match of text.matchAll(reference)) {
    if (match.index > end) parts.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[1] !== undefined) parts.push("$");
    else {
      const group = groupNumber(match[2] ?? match[3] ?? "", groups);
      if (group !== undefined && group <= groups.count) parts.push(group);
    }
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

/** Numbers have no leading zero and at most nine digits; what else is made of digits is a name. */
function groupNumber(name: string, groups: GroupNames): number | undefined {
  return /^(?:0|[1-9][0-9]{0,8})$/.test(name) ? Number(name) : groups.numbers.get(name);
}

/** The template with `groups` filled in. A group that took no part in the match is empty. Throws `LabelsTooLong`. */
export function expand(template: Template, groups: readonly (string | undefined)[]): string {
  let text = "";
  for (const part of template) {
    text += typeof part === "string" ? part : (groups[part] ?? "");
    checkLength(text);
  }
  return text;
}
