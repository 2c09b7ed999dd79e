import { badRequest } from "../status.ts";

export type Labels = Readonly<Record<string, string>>;

/** Whether an object's labels are among those that a selector chooses. */
export type LabelMatch = (labels: Labels) => boolean;

const KEY = String.raw`(?:[a-zA-Z0-9.-]+/)?[a-zA-Z0-9](?:[a-zA-Z0-9_.-]*[a-zA-Z0-9])?`;
const VALUE = String.raw`(?:[a-zA-Z0-9](?:[a-zA-Z0-9_.-]*[a-zA-Z0-9])?)?`;
const forms = {
  exists: new RegExp(`^(!?)\\s*(${KEY})$`),
  equals: new RegExp(`^(${KEY})\\s*(==|=|!=)\\s*(${VALUE})$`),
  set: new RegExp(`^(${KEY})\\s+(in|notin)\\s+\\(([^()]*)\\)$`),
  value: new RegExp(`^${VALUE}$`),
};

/** Reads the selector of a query. Fails with BadRequest if it is none. */
export function parseLabelSelector(text: string): LabelMatch {
  if (text.trim() === "") return () => true;
  const matches = requirements(text).map(parseRequirement);
  return (labels) => matches.every((match) => match(labels));
}

/** The requirements between the commas that are in no parentheses. */
function requirements(text: string): string[] {
  return text.split(/,(?![^()]*\))/).map((part) => part.trim());
}

function parseRequirement(text: string): LabelMatch {
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

/** The selector that objects carry in their spec. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export function matchesSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  const equalsAll = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  return (
    equalsAll &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      const among = value !== undefined && values.includes(value);
      if (operator === "Exists") return value !== undefined;
      if (operator === "DoesNotExist") return value === undefined;
      return operator === "In" ? among : !among;
    })
  );
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
