import type { Groups } from "./pattern.ts";

/** Matches a whole text without a regular expression engine. */
export interface PlainPattern {
  readonly groupCount: 0 | 1;
  readonly groups: (value: string) => Groups | undefined;
}

/** Text that stands for itself: no character with a meaning, or one behind a backslash. */
const literal = String.raw`(?:[^\\.+*?()|[\]{}^$]|\\[!-/:-@[-\x60{-~])*`;
const withHole = new RegExp(String.raw`^(${literal})(\(?)(\.[*+])(\)?)(${literal})$`, "u");
const withChoice = new RegExp(String.raw`^(${literal})(\(|\(\?:)(${literal}(?:\|${literal})*)\)(${literal})$`, "u");
const choice = new RegExp(String.raw`^${literal}(?:\|${literal})*$`, "u");

/**
 * Reads the expressions that most rules have: literals, one choice of literals, and one `.*` or `.+`, in a group or
 * not. Undefined for all others. Each pattern takes time linear in the value.
 */
export function plainPattern(source: string): PlainPattern | undefined {
  if (choice.test(source)) return chosen("", source, "", 0);
  const choiceParts = withChoice.exec(source);
  if (choiceParts !== null) {
    const [, before = "", opening, choices = "", after = ""] = choiceParts;
    return chosen(before, choices, after, opening === "(" ? 1 : 0);
  }
  const holeParts = withHole.exec(source);
  if (holeParts === null) return undefined;
  const [, before = "", opening = "", hole = "", closing = "", after = ""] = holeParts;
  if (opening.length !== closing.length) return undefined;
  return holed(unescaped(before), hole, unescaped(after), opening === "" ? 0 : 1);
}

function chosen(before: string, choices: string, after: string, groupCount: 0 | 1): PlainPattern {
  const matches = new Map<string, Groups>();
  for (const text of splitChoices(choices)) {
    const whole = unescaped(before) + text + unescaped(after);
    matches.set(whole, groupCount === 0 ? [whole] : [whole, text]);
  }
  return { groupCount, groups: (value) => matches.get(value) };
}

function holed(before: string, hole: string, after: string, groupCount: 0 | 1): PlainPattern {
  const least = before.length + after.length + (hole === ".+" ? 1 : 0);
  return {
    groupCount,
    groups: (value) => {
      if (value.length < least || !value.startsWith(before) || !value.endsWith(after)) return undefined;
      return groupCount === 0 ? [value] : [value, value.slice(before.length, value.length - after.length)];
    },
  };
}

function splitChoices(choices: string): string[] {
  const texts = [""];
  for (const [part] of choices.matchAll(/\\?./gsu)) {
    if (part === "|") texts.push("");
    else texts.push((texts.pop() ?? "") + unescaped(part));
  }
  return texts;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/gsu, "$1");
}
