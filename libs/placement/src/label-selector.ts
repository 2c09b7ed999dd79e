import type { LabelExpression, Labels, LabelSelector } from "./facts.ts";

/** Whether labels are among those that a selector selects. */
export type Matcher = (labels: Labels) => boolean;

export interface SelectorFault {
  /** Where in the selector, such as `matchExpressions[1].operator`. */
  readonly field: string;
  readonly message: string;
}

type Test = (value: string | undefined, values: readonly string[]) => boolean;

const OPERATORS: Readonly<Record<string, Test>> = {
  In: (value, values) => value !== undefined && values.includes(value),
  NotIn: (value, values) => value === undefined || !values.includes(value),
  Exists: (value) => value !== undefined,
  DoesNotExist: (value) => value === undefined,
};

const nothing: Matcher = () => false;

/**
 * Whether a selector selects `labels`. Null selects nothing and `{}` everything. A selector with a fault, such as an
 * unknown operator, selects nothing.
 */
export function matchesSelector(selector: LabelSelector | null, labels: Labels): boolean {
  return selector !== null && containsAll(labels, selector.matchLabels ?? {}) && matchesExpressions(selector, labels);
}

/** A selector made ready for many labels; the faults are those of {@link selectorFaults}. */
export function parseSelector(selector: LabelSelector | null): Matcher | { readonly faults: readonly SelectorFault[] } {
  const faults = selectorFaults(selector);
  return faults.length > 0 ? { faults } : matcherOf(selector);
}

/** A selector made ready for many labels. One with a fault selects nothing. */
export function matcherOf(selector: LabelSelector | null): Matcher {
  if (selector === null || selectorFaults(selector).length > 0) return nothing;
  const wanted = Object.entries(selector.matchLabels ?? {});
  const tests = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    const test = OPERATORS[operator] ?? (() => false);
    return (labels: Labels) => test(valueOf(labels, key), values);
  });
  return (labels) =>
    wanted.every(([key, value]) => valueOf(labels, key) === value) && tests.every((test) => test(labels));
}

export function containsAll(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => valueOf(labels, key) === value);
}

/** What the API server would refuse in a selector; custom resources may carry it all the same. */
export function selectorFaults(selector: LabelSelector | null): readonly SelectorFault[] {
  return (selector?.matchExpressions ?? []).flatMap(faultsOf);
}

function faultsOf({ key, operator, values = [] }: LabelExpression, index: number): readonly SelectorFault[] {
  const at = `matchExpressions[${index}]`;
  if (!Object.hasOwn(OPERATORS, operator)) {
    const message = `expected In, NotIn, Exists or DoesNotExist, not ${JSON.stringify(operator.slice(0, 63))}`;
    return [{ field: `${at}.operator`, message }];
  }
  const takesValues = operator === "In" || operator === "NotIn";
  if (takesValues && values.length === 0) {
    return [{ field: `${at}.values`, message: `${operator} of ${key} needs at least one` }];
  }
  if (takesValues || values.length === 0) return [];
  return [{ field: `${at}.values`, message: `${operator} of ${key} takes none` }];
}

function matchesExpressions(selector: LabelSelector, labels: Labels): boolean {
  const expressions = selector.matchExpressions ?? [];
  if (expressions.length === 0) return true;
  if (selectorFaults(selector).length > 0) return false;
  return expressions.every(({ key, operator, values = [] }) => OPERATORS[operator]?.(valueOf(labels, key), values));
}

function valueOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
