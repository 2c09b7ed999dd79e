import type { LabelSelector } from "@evenkeel/api";

export type Labels = Readonly<Record<string, string>>;

type Requirement = NonNullable<LabelSelector["matchExpressions"]>[number];

const OPERATORS: Readonly<Record<string, (value: string | undefined, values: readonly string[]) => boolean>> = {
  In: (value, values) => value !== undefined && values.includes(value),
  NotIn: (value, values) => value === undefined || !values.includes(value),
  Exists: (value) => value !== undefined,
  DoesNotExist: (value) => value === undefined,
};

/** Whether labels are among those that a selector chooses. One that says nothing chooses all. */
export function chooses({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  return (
    containsAll(labels, matchLabels) &&
    matchExpressions.every(({ key, operator, values = [] }) => OPERATORS[operator]?.(labels[key], values) ?? false)
  );
}

export function containsAll(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}

/** What is wrong with a selector, which the API server takes as it is: one line each. */
export function selectorFaults({ matchExpressions = [] }: LabelSelector): readonly string[] {
  return matchExpressions.flatMap(faultsOf);
}

function faultsOf({ key, operator, values = [] }: Requirement, index: number): readonly string[] {
  const at = `matchExpressions[${index}]`;
  if (!Object.hasOwn(OPERATORS, operator)) {
    return [`${at}.operator: expected In, NotIn, Exists or DoesNotExist, not ${JSON.stringify(operator.slice(0, 63))}`];
  }
  const takesValues = operator === "In" || operator === "NotIn";
  if (takesValues && values.length === 0) return [`${at}.values: ${operator} of ${key} needs at least one`];
  return !takesValues && values.length > 0 ? [`${at}.values: ${operator} of ${key} takes none`] : [];
}
