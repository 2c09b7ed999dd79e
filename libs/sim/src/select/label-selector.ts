import type { LabelSelector, Matcher } from "@evenkeel/placement";
import { badRequest } from "../status.ts";

const KEY = String.raw`(?:[a-zA-Z0-9.-]+/)?[a-zA-Z0-9](?:[a-zA-Z0-9_.-]*[a-zA-Z0-9])?`;
const VALUE = String.raw`(?:[a-zA-Z0-9](?:[a-zA-Z0-9_.-]*[a-zA-Z0-9])?)?`;
const forms = {
  exists: new RegExp(`^(!?)\\s*(${KEY})$`),
  equals: new RegExp(`^(${KEY})\\s*(==|=|!=)\\s*(${VALUE})$`),
  set: new RegExp(`^(${KEY})\\s+(in|notin)\\s+\\(([^()]*)\\)$`),
  value: new RegExp(`^${VALUE}$`),
};

/** Reads the selector of a query. Fails with BadRequest if it is none. */
export function parseLabelSelector(text: string): Matcher {
  if (text.trim() === "") return () => true;
  const matches = requirements(text).map(parseRequirement);
  return (labels) => matches.every((match) => match(labels));
}

/** The requirements between the commas that are in no parentheses. */
function requirements(text: string): string[] {
  return text.split(/,(?![^()]*\))/).map((part) => part.trim());
}

function parseRequirement(text: string): Matcher {
  const exists = forms.exists.exec(text);
  if (exists !== null) {
    const [, not, key = ""] = exists;
    return (labels) => Object.hasOwn(labels, key) === (not !== "!");
  }
  const equals = forms.equals.exec(text);
  if (equals !== null) {
    const [, key = "", operator, value = ""] = equals;
    return (labels) => (labels[key] === value) === (operator !== "!=");
  }
  const set = forms.set.exec(text);
  const values = set?.[3]?.split(",").map((value) => value.trim());
  if (set === null || values === undefined || !values.every((value) => forms.value.test(value))) {
    throw badRequest(`unable to parse requirement: ${JSON.stringify(text)} is not a label selector requirement`);
  }
  const [, key = "", operator] = set;
  return (labels) => {
    const value = labels[key];
    return (value !== undefined && values.includes(value)) === (operator === "in");
  };
}

/** The selector as one line, as scales tell it. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator === "In" ? "in" : "notin"} (${values.toSorted().join(",")})`;
  });
  return [...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`), ...expressions].toSorted().join(",");
}
