import type { LabelExpression, Labels, NodeSelectorTerm } from "./facts.ts";

interface NamedNode {
  readonly name: string;
  readonly labels: Labels;
}

/** Whether a node matches one of the terms. An empty list, and a term that says nothing, match no node. */
export function matchesTerms(terms: readonly NodeSelectorTerm[], node: NamedNode): boolean {
  return terms.some((term) => matchesTerm(term, node));
}

/** A term with a fault, such as an unknown operator, matches no node. */
export function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: NamedNode): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((expression) => matchesLabel(expression, node.labels)) &&
    matchFields.every((expression) => matchesField(expression, node.name))
  );
}

function matchesLabel({ key, operator, values = [] }: LabelExpression, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return values.length > 0 && (value === undefined || !values.includes(value));
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt":
      return compares(value, operator, values);
    default:
      return false;
  }
}

function compares(value: string | undefined, operator: "Gt" | "Lt", values: readonly string[]): boolean {
  const [bound = "", ...more] = values;
  if (value === undefined || more.length > 0 || !isInteger(value) || !isInteger(bound)) return false;
  return operator === "Gt" ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
}

function isInteger(text: string): boolean {
  return /^-?\d+$/.test(text);
}

/** Of a node's fields only the name can be selected, by one value. */
function matchesField({ key, operator, values = [] }: LabelExpression, name: string): boolean {
  if (key !== "metadata.name" || values.length !== 1) return false;
  if (operator === "In") return values[0] === name;
  return operator === "NotIn" && values[0] !== name;
}
